package dashboards

// The parts of Grafana's dashboard schema that these dashboards use, under Grafana's names.

type dashboard struct {
	UID           string      `json:"uid"`
	Title         string      `json:"title"`
	Description   string      `json:"description"`
	Tags          []string    `json:"tags"`
	SchemaVersion int         `json:"schemaVersion"`
	Version       int         `json:"version"`
	Editable      bool        `json:"editable"`
	GraphTooltip  int         `json:"graphTooltip"`
	Refresh       string      `json:"refresh"`
	Timezone      string      `json:"timezone"`
	Time          timeRange   `json:"time"`
	Links         []link      `json:"links"`
	Templating    templating  `json:"templating"`
	Annotations   annotations `json:"annotations"`
	Panels        []*Panel    `json:"panels"`
}

type timeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

type link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	URL         string   `json:"url"`
	Tooltip     string   `json:"tooltip"`
	Icon        string   `json:"icon"`
	Tags        []string `json:"tags"`
	AsDropdown  bool     `json:"asDropdown"`
	TargetBlank bool     `json:"targetBlank"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
}

type templating struct {
	List []variable `json:"list"`
}

type variable struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Label       string         `json:"label"`
	Description string         `json:"description"`
	Query       any            `json:"query"`
	Datasource  *datasource    `json:"datasource,omitempty"`
	IncludeAll  bool           `json:"includeAll"`
	Multi       bool           `json:"multi"`
	AllValue    string         `json:"allValue,omitempty"`
	Current     map[string]any `json:"current"`
	Refresh     int            `json:"refresh"`
	Sort        int            `json:"sort"`
	Hide        int            `json:"hide"`
}

type variableQuery struct {
	Query string `json:"query"`
	RefID string `json:"refId"`
}

type annotations struct {
	List []annotation `json:"list"`
}

type annotation struct {
	Name        string     `json:"name"`
	Datasource  datasource `json:"datasource"`
	Enable      bool       `json:"enable"`
	IconColor   string     `json:"iconColor"`
	Expr        string     `json:"expr"`
	TitleFormat string     `json:"titleFormat"`
	TextFormat  string     `json:"textFormat"`
	Step        string     `json:"step"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Panel is one picture of a dashboard, or the head of a row.
type Panel struct {
	ID              int          `json:"id"`
	Type            string       `json:"type"`
	Title           string       `json:"title"`
	Description     string       `json:"description,omitempty"`
	Datasource      *datasource  `json:"datasource,omitempty"`
	GridPos         gridPos      `json:"gridPos"`
	Collapsed       *bool        `json:"collapsed,omitempty"`
	Panels          []*Panel     `json:"panels,omitempty"`
	Links           []link       `json:"links,omitempty"`
	Targets         []target     `json:"targets,omitempty"`
	FieldConfig     *fieldConfig `json:"fieldConfig,omitempty"`
	Options         any          `json:"options,omitempty"`
	Transformations []transform  `json:"transformations,omitempty"`
}

type gridPos struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type target struct {
	RefID        string     `json:"refId"`
	Datasource   datasource `json:"datasource"`
	EditorMode   string     `json:"editorMode"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat"`
	Range        bool       `json:"range"`
	Instant      bool       `json:"instant"`
	Exemplar     bool       `json:"exemplar"`
	Format       string     `json:"format"`
}

type fieldConfig struct {
	Defaults  fieldDefaults   `json:"defaults"`
	Overrides []fieldOverride `json:"overrides"`
}

type fieldDefaults struct {
	Unit       string       `json:"unit"`
	Min        *float64     `json:"min,omitempty"`
	Max        *float64     `json:"max,omitempty"`
	Decimals   *int         `json:"decimals,omitempty"`
	Color      colour       `json:"color"`
	Thresholds thresholds   `json:"thresholds"`
	Custom     *graphConfig `json:"custom,omitempty"`
}

type fieldOverride struct {
	Matcher    matcher    `json:"matcher"`
	Properties []property `json:"properties"`
}

type matcher struct {
	ID      string `json:"id"`
	Options string `json:"options"`
}

type property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

type colour struct {
	Mode string `json:"mode"`
}

type thresholds struct {
	Mode  string `json:"mode"`
	Steps []step `json:"steps"`
}

type step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

type graphConfig struct {
	DrawStyle       string     `json:"drawStyle"`
	LineWidth       int        `json:"lineWidth"`
	FillOpacity     int        `json:"fillOpacity"`
	ShowPoints      string     `json:"showPoints"`
	Stacking        stacking   `json:"stacking"`
	ThresholdsStyle styleMode  `json:"thresholdsStyle"`
	ScaleDistrib    scaleDistr `json:"scaleDistribution"`
}

type stacking struct {
	Mode  string `json:"mode"`
	Group string `json:"group"`
}

type styleMode struct {
	Mode string `json:"mode"`
}

type scaleDistr struct {
	Type string `json:"type"`
	Log  int    `json:"log,omitempty"`
}

type graphOptions struct {
	Legend  legend  `json:"legend"`
	Tooltip tooltip `json:"tooltip"`
}

type legend struct {
	DisplayMode string   `json:"displayMode"`
	Placement   string   `json:"placement"`
	ShowLegend  bool     `json:"showLegend"`
	Calcs       []string `json:"calcs"`
}

type tooltip struct {
	Mode string `json:"mode"`
	Sort string `json:"sort"`
}

type statOptions struct {
	ReduceOptions reduce `json:"reduceOptions"`
	GraphMode     string `json:"graphMode"`
	ColorMode     string `json:"colorMode"`
	JustifyMode   string `json:"justifyMode"`
	TextMode      string `json:"textMode"`
	Orientation   string `json:"orientation"`
	WideLayout    bool   `json:"wideLayout"`
	ShowPercent   bool   `json:"showPercentChange"`
	PercentMode   string `json:"percentChangeColorMode"`
}

type reduce struct {
	Values bool     `json:"values"`
	Calcs  []string `json:"calcs"`
	Fields string   `json:"fields"`
}

type tableOptions struct {
	FrameIndex int         `json:"frameIndex"`
	ShowHeader bool        `json:"showHeader"`
	CellHeight string      `json:"cellHeight"`
	SortBy     []tableSort `json:"sortBy"`
}

type tableSort struct {
	DisplayName string `json:"displayName"`
	Desc        bool   `json:"desc"`
}

type textOptions struct {
	Mode    string `json:"mode"`
	Content string `json:"content"`
}

type transform struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}
