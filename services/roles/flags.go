package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/telemetry/export"
	"github.com/tradegrid/tradegrid/pkg/store/blob"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/migrate"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
	"github.com/tradegrid/tradegrid/schemas/sql"
)

// BackendFlags are the flags of every role that uses the database and the brokers.
type BackendFlags struct {
	DatabaseFlags
	KafkaFlags
	OpsFlags
}

// DatabaseSource is the address and the credentials of the database.
type DatabaseSource struct {
	DatabaseURL          string `name:"database-url" help:"Database URL, postgres://user:password@host:port/name?sslmode=verify-full. Required unless --database-url-file is given." placeholder:"URL" secret:"url"`
	DatabaseURLFile      string `name:"database-url-file" help:"File with the database URL, instead of --database-url; read for each connection." type:"path" placeholder:"FILE"`
	DatabasePasswordFile string `name:"database-password-file" help:"File with the database password, which replaces the one in the URL; read for each connection." type:"path" placeholder:"FILE"`
}

// DatabaseConfig returns the configuration for package db.
func (f DatabaseSource) DatabaseConfig() db.Config {
	return db.Config{URL: f.DatabaseURL, URLFile: f.DatabaseURLFile, PasswordFile: f.DatabasePasswordFile}
}

// Check reads the files, too.
func (f DatabaseSource) Check() error { return f.DatabaseConfig().Validate() }

// DatabaseFlags configure the database connections.
type DatabaseFlags struct {
	DatabaseSource
	DatabaseConns     int32 `help:"Maximum number of database connections of this process. Plan about 4 per core of the database over all processes." default:"16"`
	DatabaseSavepoint bool  `help:"On CockroachDB: retry transactions with its savepoint protocol instead of as a whole."`
}

// Check validates the flags besides those of the source.
func (f DatabaseFlags) Check() error {
	if f.DatabaseConns < 1 {
		return fmt.Errorf("--database-conns %d: must be at least 1", f.DatabaseConns)
	}
	return nil
}

// schemaCheck is a readiness check that the database has the schema of this release. Once it has succeeded, it is not
// repeated, because nothing is removed while binaries that need it run.
func schemaCheck(d *db.DB) export.Check {
	var complete atomic.Bool
	return func(ctx context.Context) error {
		if complete.Load() {
			return nil
		}
		missing, err := migrate.Pending(ctx, d.Pool(), sql.Files, d.Dialect(), migrate.Expand)
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("%d steps of this release are missing, the first is %s: run tradegrid migrate", len(missing), missing[0])
		}
		complete.Store(true)
		return nil
	}
}

// SecretKeysFlags name the file of keys that encrypt webhook secrets.
type SecretKeysFlags struct {
	SecretKeysFile string `help:"File with the keys that encrypt webhook secrets, one per line as id:key, the key being 32 bytes in base64 (openssl rand -base64 32). The first encrypts, all decrypt. Read again when it changes." type:"path" placeholder:"FILE"`
}

// FlagSecretKeys is the flag that errors about keys name.
const FlagSecretKeys = "--secret-keys-file"

// ReadKeys reads the file.
func (f SecretKeysFlags) ReadKeys(log *slog.Logger) (*secret.Keys, error) {
	if f.SecretKeysFile == "" {
		return nil, errors.New(FlagSecretKeys + " is required: give a file with a line id:key, the key from openssl rand -base64 32; see docs/operations.md#keys-of-webhook-secrets")
	}
	return secret.ReadKeys(FlagSecretKeys, f.SecretKeysFile, log)
}

// CheckKeys reads the file, too.
func (f SecretKeysFlags) CheckKeys() error {
	_, err := f.ReadKeys(nil)
	return err
}

// MailFlags configure the e-mail by which owners of companies are told what needs their attention.
type MailFlags struct {
	SMTPURL     string `name:"smtp-url" help:"Mail server for notices to the owners of companies: smtp://user:password@host:587 (STARTTLS), smtps://host:465 (TLS), or smtp://host:25?tls=none. Empty = notices are kept, but not sent." placeholder:"URL" secret:"url"`
	SMTPURLFile string `name:"smtp-url-file" help:"File with the URL of the mail server, instead of --smtp-url; read for each mail." type:"path" placeholder:"FILE"`
	MailFrom    string `help:"Address that notices come from. Required with --smtp-url and --smtp-url-file." placeholder:"ADDRESS"`
}

// Check validates the URL and the address, and reads the file.
func (f MailFlags) Check() error {
	_, err := f.transport()
	return err
}

// transport connects to nothing yet; nil = none is configured.
func (f MailFlags) transport() (ownermail.Transport, error) {
	if f.SMTPURL == "" && f.SMTPURLFile == "" {
		return nil, nil //nolint:nilnil // without a server, notices are not sent
	}
	smtp, err := f.smtp()
	errs := []error{err}
	if a, err := mail.ParseAddress(f.MailFrom); err != nil || a.Address == "" {
		errs = append(errs, fmt.Errorf("--mail-from %q: must be an address such as tradegrid@example.com", f.MailFrom))
	}
	return smtp, errors.Join(errs...)
}

func (f MailFlags) smtp() (*ownermail.SMTP, error) {
	switch {
	case f.SMTPURLFile == "":
		s, err := ownermail.NewSMTP(f.SMTPURL)
		if err != nil {
			return nil, fmt.Errorf("--smtp-url: %w", err)
		}
		return s, nil
	case f.SMTPURL != "":
		return nil, errors.New("--smtp-url and --smtp-url-file are mutually exclusive: set one of them")
	}
	const flag = "--smtp-url-file"
	if _, err := secret.File(flag, f.SMTPURLFile); err != nil {
		return nil, err
	}
	s, err := ownermail.NewSMTPFrom(func() (string, error) { return secret.File(flag, f.SMTPURLFile) })
	if err != nil {
		return nil, fmt.Errorf(flag+": %w", err)
	}
	return s, nil
}

// FileFlags say where the contents of files are.
type FileFlags struct {
	FileStore       string `help:"Where the contents of files are: database, or s3 for a bucket of an S3-compatible service. Contents are not moved from one to the other." enum:"database,s3" default:"database" same:"platform"`
	S3Endpoint      string `name:"s3-endpoint" env:"TRADEGRID_S3_ENDPOINT" help:"Service with the bucket, such as https://s3.eu-central-1.amazonaws.com. Required with --file-store=s3, as are the bucket, and both files or --s3-role." placeholder:"URL"`
	S3Bucket        string `name:"s3-bucket" env:"TRADEGRID_S3_BUCKET" help:"Bucket, which must exist and be private." placeholder:"NAME" same:"platform"`
	S3Region        string `name:"s3-region" env:"TRADEGRID_S3_REGION" help:"Region of the bucket." default:"us-east-1"`
	S3AccessKeyFile string `name:"s3-access-key-file" env:"TRADEGRID_S3_ACCESS_KEY_FILE" help:"File with the id of the access key; read again when it changes." type:"path" placeholder:"FILE"`
	S3SecretKeyFile string `name:"s3-secret-key-file" env:"TRADEGRID_S3_SECRET_KEY_FILE" help:"File with the secret of the access key; read again when it changes." type:"path" placeholder:"FILE"`
	S3Role          bool   `name:"s3-role" env:"TRADEGRID_S3_ROLE" help:"Use the role that AWS gives this process, by IRSA, EKS Pod Identity, ECS or its machine, in place of an access key."`
	S3PathStyle     bool   `name:"s3-path-style" env:"TRADEGRID_S3_PATH_STYLE" help:"Name the bucket in the path and not in the host, as most services other than Amazon's want it."`
}

const storeS3 = "s3"

func (f FileFlags) s3() blob.S3Config {
	return blob.S3Config{
		Endpoint: f.S3Endpoint, Bucket: f.S3Bucket, Region: f.S3Region, AccessKeyFile: f.S3AccessKeyFile, SecretKeyFile: f.S3SecretKeyFile, Role: f.S3Role, PathStyle: f.S3PathStyle,
	}
}

// Check reads the files, too.
func (f FileFlags) Check() error {
	if f.FileStore != storeS3 {
		return nil
	}
	return f.s3().Validate()
}

// store makes the store. A bucket that does not answer is logged: everything but files works without it.
func (f FileFlags) store(ctx context.Context, d *db.DB, log *slog.Logger) (blob.Store, error) {
	if f.FileStore != storeS3 {
		return blob.NewDatabase(d), nil
	}
	s, err := blob.NewS3(f.s3())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.Check(ctx); err != nil {
		log.ErrorContext(ctx, "the bucket of files cannot be used; uploads and downloads fail until it can", "error", err)
	}
	return s, nil
}

// KafkaFlags configure the connection to the brokers.
type KafkaFlags struct {
	KafkaBrokers      []string `help:"Kafka brokers, as host:port,host:port. Required by all roles but the console." placeholder:"HOST:PORT"`
	KafkaTLS          bool     `name:"kafka-tls" help:"Connect to the brokers with TLS."`
	KafkaCAFile       string   `name:"kafka-ca-file" help:"PEM file with the certificate authorities of the brokers; default: those of the system." type:"path" placeholder:"FILE"`
	KafkaCertFile     string   `help:"PEM file with the client certificate." type:"path" placeholder:"FILE"`
	KafkaKeyFile      string   `help:"PEM file with the key of the client certificate." type:"path" placeholder:"FILE"`
	KafkaSASL         string   `name:"kafka-sasl" help:"SASL mechanism: plain, scram-sha-256 or scram-sha-512; empty for none." enum:",plain,scram-sha-256,scram-sha-512" default:""`
	KafkaUsername     string   `help:"SASL user."`
	KafkaPasswordFile string   `help:"File with the SASL password; read for each connection." type:"path" placeholder:"FILE"`
	kafka.Settings
}

// KafkaConfig returns the connection of a role to the brokers; an error names every wrong flag.
func (f KafkaFlags) KafkaConfig(role string, log *slog.Logger) (kafka.Config, error) {
	cfg := kafka.Config{
		Brokers: f.KafkaBrokers, ClientID: "tradegrid-" + role, Settings: f.Settings, Log: log,
		TLS:  kafka.TLS{Enabled: f.KafkaTLS, CAFile: f.KafkaCAFile, CertFile: f.KafkaCertFile, KeyFile: f.KafkaKeyFile},
		SASL: kafka.SASL{Mechanism: f.KafkaSASL, Username: f.KafkaUsername, PasswordFile: f.KafkaPasswordFile},
	}
	return cfg, cfg.Validate()
}

// OptionalKafkaFlags are those of a role that works without brokers, too.
type OptionalKafkaFlags KafkaFlags

// Check reads the files, too.
func (f KafkaFlags) Check() error {
	_, err := f.KafkaConfig("", nil)
	return err
}

// OpsFlags configure health checks and telemetry.
type OpsFlags struct {
	OpsListen    string        `help:"Address of /livez, /readyz and /metrics; port 0 picks a free one." default:"127.0.0.1:9090"`
	OTLPEndpoint string        `name:"otlp-endpoint" help:"Endpoint for traces, metrics and logs, OTLP over HTTP; empty = off." placeholder:"URL" secret:"url"`
	OTLPSignals  []string      `name:"otlp-signals" help:"Signals to export: traces, metrics, logs." enum:"traces,metrics,logs" default:"traces,metrics,logs"`
	OTLPInterval time.Duration `name:"otlp-interval" help:"Export interval of metrics." default:"30s"`
	TraceSample  float64       `help:"Share of new traces to keep, 0 to 1." default:"0.05" reload:"true"`
	TraceSlow    time.Duration `help:"Also keep traces that take this long, have errors, or belong to a third or later attempt; 0 = keep only the sampled share." default:"1s"`
}

// FlagOpsListen is the flag of the address of health checks.
const FlagOpsListen = "--ops-listen"

// Check validates the shares, the intervals and the endpoint.
func (f OpsFlags) Check() error {
	var errs []error
	if f.TraceSample < 0 || f.TraceSample > 1 {
		errs = append(errs, fmt.Errorf("--trace-sample %v: must be a share from 0 to 1, such as 0.05", f.TraceSample))
	}
	if f.OTLPInterval <= 0 {
		errs = append(errs, fmt.Errorf("--otlp-interval %s: must be above 0, such as 30s", f.OTLPInterval))
	}
	if f.TraceSlow < 0 {
		errs = append(errs, fmt.Errorf("--trace-slow %s: must not be below 0; 0 keeps only the share", f.TraceSlow))
	}
	if f.OTLPEndpoint != "" {
		errs = append(errs, export.CheckEndpoint(f.OTLPEndpoint))
	}
	return errors.Join(errs...)
}

func (f OpsFlags) start(ctx context.Context, name string, log *slog.Logger, metrics []prometheus.Collector) (*export.Telemetry, error) {
	return export.Start(ctx, export.Config{
		Service: "tradegrid-" + name, Instance: NodeName(), Release: Release, Endpoint: f.OTLPEndpoint, Signals: f.OTLPSignals,
		Interval: f.OTLPInterval, Sample: f.TraceSample, KeepSlow: f.TraceSlow, Metrics: metrics, Log: log,
	})
}

// Listen listens on the address that a flag gives.
func Listen(ctx context.Context, flag, address string) (net.Listener, error) {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, address, err)
	}
	return ln, nil
}
