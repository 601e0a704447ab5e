package demodata

import "github.com/tradegrid/tradegrid/pkg/kit/money"

//nolint:gochecknoglobals // constants
var categoryTable = []struct{ name, parent, prefix, icon, color string }{
	{"Bicycles", "", "BK", "bike", "#1F6FEB"},
	{"City bikes", "Bicycles", "BKC", "bike", "#1F6FEB"},
	{"Mountain bikes", "Bicycles", "BKM", "mountain", "#1F6FEB"},
	{"E-bikes", "Bicycles", "BKE", "battery", "#1F6FEB"},
	{"Parts", "", "PT", "cog", "#8250DF"},
	{"Tyres and tubes", "Parts", "TY", "circle", "#8250DF"},
	{"Brakes", "Parts", "BR", "cog", "#8250DF"},
	{"Drivetrain", "Parts", "DT", "link", "#8250DF"},
	{"Accessories", "", "AC", "bag", "#BF8700"},
	{"Locks", "Accessories", "LK", "lock", "#BF8700"},
	{"Lights", "Accessories", "LT", "sun", "#BF8700"},
	{"Helmets", "Accessories", "HL", "shield", "#BF8700"},
	{"Clothing", "", "CL", "shirt", "#1A7F37"},
	{"Workshop", "", "WS", "wrench", "#CF222E"},
}

//nolint:gochecknoglobals // constants
var attributeTable = []struct {
	code, name, german, kind, unit string
	options                        []struct{ label, german, color string }
}{
	{"size", "Size", "Größe", "select", "", []struct{ label, german, color string }{{"S", "S", ""}, {"M", "M", ""}, {"L", "L", ""}, {"XL", "XL", ""}}},
	{"colour", "Colour", "Farbe", "select", "", []struct{ label, german, color string }{
		{"Black", "Schwarz", "#000000"}, {"Red", "Rot", "#CF222E"}, {"Blue", "Blau", "#0969DA"}, {"Green", "Grün", "#1A7F37"},
	}},
	{"wheel_size", "Wheel size", "Laufradgröße", "number", "in", nil},
	{"weight", "Weight", "Gewicht", "number", "kg", nil},
}

// product is a product of the table; one with an axis has a variant for each label.
type product struct {
	category, name, german, brand, emoji, about string
	price, cost                                 money.Amount
	stock, reorder                              int64 // of each variant
	supplier                                    int
	axis                                        string
	labels                                      []string
	wheel, weight                               int64 // inches, grams; 0 = none
}

//nolint:gochecknoglobals // constants
var (
	threeSizes = []string{"S", "M", "L"}
	fourSizes  = []string{"S", "M", "L", "XL"}
	colours    = []string{"Black", "Red", "Blue"}
)

// The first product is that of the first order, and has no variants.
//
//nolint:gochecknoglobals // constants
var productTable = []product{
	{"Locks", "U-lock 230 mm", "Bügelschloss 230 mm", "Kettwerk", "🔒", "Hardened 14 mm shackle, two keys, frame mount.", 5990, 3100, 60, 10, 2, "", nil, 0, 1450},
	{"City bikes", "Harbour 7", "Harbour 7", "Nordpedal", "🚲", "Seven-speed hub gear, mudguards and rack.", 74900, 48000, 6, 2, 0, "size", threeSizes, 28, 15200},
	{"City bikes", "Harbour 3 Low Step", "Harbour 3 Tiefeinsteiger", "Nordpedal", "🚲", "Three-speed city bike with a low step and a basket.", 59900, 38500, 5, 2, 0, "size", threeSizes, 26, 16100},
	{"City bikes", "Quay Single Speed", "Quay Singlespeed", "Nordpedal", "🚲", "Light steel frame, one gear, flip-flop hub.", 49900, 31000, 4, 1, 0, "colour", colours, 28, 10900},
	{"Mountain bikes", "Ridge 29", "Ridge 29", "Alpinox", "🚵", "Hardtail with 120 mm travel and hydraulic discs.", 129900, 84000, 4, 2, 1, "size", fourSizes, 29, 13400},
	{"Mountain bikes", "Ridge 24 Junior", "Ridge 24 Junior", "Alpinox", "🚵", "For riders from nine years.", 44900, 27500, 5, 2, 1, "colour", colours, 24, 11800},
	{"Mountain bikes", "Scree 150 Trail", "Scree 150 Trail", "Alpinox", "🚵", "Full suspension, 150 mm, dropper post.", 289900, 201000, 2, 1, 1, "size", threeSizes, 29, 14900},
	{"E-bikes", "Volta City", "Volta City", "Voltwind", "⚡", "500 Wh battery, belt drive, 50 Nm.", 279900, 189000, 3, 2, 1, "size", threeSizes, 28, 23800},
	{"E-bikes", "Volta Cargo", "Volta Cargo", "Voltwind", "⚡", "Long-tail cargo bike, carries up to 180 kg.", 489900, 345000, 4, 1, 1, "", nil, 20, 36500},
	{"E-bikes", "Volta Trail 625", "Volta Trail 625", "Voltwind", "⚡", "625 Wh, 85 Nm, 140 mm travel.", 399900, 276000, 2, 1, 1, "size", threeSizes, 29, 24100},
	{"Tyres and tubes", "City tyre 28 × 1.6", "Stadtreifen 28 × 1,6", "Rollgrip", "🛞", "Puncture protection and a reflective strip.", 2490, 1180, 80, 20, 2, "", nil, 28, 690},
	{"Tyres and tubes", "Trail tyre 29 × 2.35", "Trailreifen 29 × 2,35", "Rollgrip", "🛞", "Tubeless ready, soft compound.", 5490, 2900, 50, 12, 2, "", nil, 29, 940},
	{"Tyres and tubes", "Inner tube 28 in, Presta", "Schlauch 28 Zoll, Presta", "Rollgrip", "⭕", "40 mm valve.", 690, 240, 240, 60, 2, "", nil, 28, 110},
	{"Tyres and tubes", "Inner tube 26 in, Schrader", "Schlauch 26 Zoll, Schrader", "Rollgrip", "⭕", "For tyres from 1.5 to 2.5 inches.", 690, 240, 150, 40, 2, "", nil, 26, 130},
	{"Tyres and tubes", "Patch kit", "Flickzeug", "Rollgrip", "🩹", "Six patches, glue and a scraper.", 390, 120, 140, 30, 2, "", nil, 0, 40},
	{"Brakes", "Disc pads, organic", "Scheibenbremsbeläge, organisch", "Haltfest", "🛑", "One pair, quiet in the wet.", 1790, 760, 120, 30, 3, "", nil, 0, 30},
	{"Brakes", "Brake cable set", "Bremszugset", "Haltfest", "🛑", "Stainless inner cables and housing, front and rear.", 1290, 520, 90, 25, 3, "", nil, 0, 120},
	{"Brakes", "Rotor 180 mm", "Bremsscheibe 180 mm", "Haltfest", "🛑", "Six-bolt.", 2690, 1240, 45, 15, 3, "", nil, 0, 150},
	{"Drivetrain", "Chain, 11-speed", "Kette, 11-fach", "Kettwerk", "⛓️", "118 links with a quick link.", 3290, 1690, 70, 20, 3, "", nil, 0, 260},
	{"Drivetrain", "Cassette 11–42", "Kassette 11–42", "Kettwerk", "⚙️", "Eleven-speed, steel.", 7490, 4100, 30, 8, 3, "", nil, 0, 480},
	{"Drivetrain", "Chain oil 100 ml", "Kettenöl 100 ml", "Kettwerk", "🛢️", "For all weathers.", 890, 310, 160, 40, 3, "", nil, 0, 110},
	{"Locks", "Folding lock 90 cm", "Faltschloss 90 cm", "Kettwerk", "🔒", "Six links, with a holder for the bottle bosses.", 7990, 4300, 40, 10, 2, "", nil, 0, 1250},
	{"Lights", "Front light 60 lux", "Frontlicht 60 Lux", "Leuchtpfad", "💡", "Rechargeable over USB-C.", 4490, 2250, 60, 15, 2, "", nil, 0, 140},
	{"Lights", "Rear light", "Rücklicht", "Leuchtpfad", "🔴", "Brake light function, 30 hours.", 2490, 1150, 70, 15, 2, "", nil, 0, 60},
	{"Helmets", "Commuter helmet", "Pendlerhelm", "Kopfnuss", "⛑️", "Rear light and a magnetic buckle.", 7990, 4200, 15, 5, 4, "size", threeSizes, 0, 380},
	{"Helmets", "Trail helmet", "Trailhelm", "Kopfnuss", "⛑️", "Visor and extended cover.", 11990, 6600, 12, 4, 4, "colour", colours, 0, 350},
	{"Accessories", "Pannier 20 l", "Gepäcktasche 20 l", "Sattelweit", "👜", "Waterproof, one piece.", 6490, 3300, 40, 10, 4, "colour", colours, 0, 900},
	{"Accessories", "Floor pump", "Standpumpe", "Luftikus", "🧰", "Up to 11 bar, for all valves.", 3990, 1950, 35, 8, 2, "", nil, 0, 1600},
	{"Accessories", "Bell", "Klingel", "Luftikus", "🔔", "Brass, clear tone.", 1290, 480, 90, 20, 2, "", nil, 0, 70},
	{"Accessories", "Child seat", "Kindersitz", "Sattelweit", "🧒", "For 9 to 22 kg, frame mount.", 12990, 7400, 14, 4, 4, "", nil, 0, 3900},
	{"Clothing", "Rain jacket", "Regenjacke", "Wetterfest", "🧥", "Reflective, packs into its own pocket.", 9990, 5100, 10, 3, 4, "size", fourSizes, 0, 310},
	{"Clothing", "Gloves", "Handschuhe", "Wetterfest", "🧤", "Padded, for touch screens.", 2990, 1300, 24, 8, 4, "size", threeSizes, 0, 70},
}
