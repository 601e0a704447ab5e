package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
)

// S3Config configures a bucket.
type S3Config struct {
	Endpoint      string // URL, such as https://s3.eu-central-1.amazonaws.com
	Bucket        string
	Region        string
	AccessKeyFile string // file with the id of the access key; read again when it changes
	SecretKeyFile string // file with the secret of the access key; read again when it changes
	Role          bool   // use the role that AWS gives this process, in place of an access key
	PathStyle     bool   // the bucket is the first part of the path, not of the host name
}

// keysAge is for how long the files with the access key are used before they are read again.
const keysAge = 10 * time.Second

// s3Tries is how often a request is made. A request of the API has 30 s in all.
const s3Tries = 3

// S3 is a [Store] in a bucket of an S3-compatible service.
type S3 struct {
	client *minio.Core
	bucket string
}

// Validate checks the settings and reads the files. Errors name the flags.
func (c S3Config) Validate() error {
	var errs []error
	required := [][2]string{{"--s3-endpoint", c.Endpoint}, {"--s3-bucket", c.Bucket}}
	switch {
	case !c.Role:
		required = append(required, [2]string{"--s3-access-key-file", c.AccessKeyFile}, [2]string{"--s3-secret-key-file", c.SecretKeyFile})
	case c.AccessKeyFile != "" || c.SecretKeyFile != "":
		errs = append(errs, errors.New("--s3-role and --s3-access-key-file are mutually exclusive: give a role or an access key"))
	}
	for _, v := range required {
		if v[1] == "" {
			errs = append(errs, fmt.Errorf("%s is required with --file-store=s3", v[0]))
		}
	}
	if u, err := url.Parse(c.Endpoint); c.Endpoint != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "") {
		errs = append(errs, fmt.Errorf("--s3-endpoint %q: must be a scheme and a host, such as https://s3.example.com", c.Endpoint))
	}
	if len(errs) == 0 && !c.Role {
		_, err := c.keys()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c S3Config) keys() (v credentials.Value, err error) {
	v.SignerType = credentials.SignatureV4
	if v.AccessKeyID, err = secret.File("--s3-access-key-file", c.AccessKeyFile); err != nil {
		return v, err
	}
	v.SecretAccessKey, err = secret.File("--s3-secret-key-file", c.SecretKeyFile)
	return v, err
}

// NewS3 returns the store of a bucket. It connects to nothing.
func NewS3(c S3Config) (*S3, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("--s3-endpoint: %w", err)
	}
	lookup := minio.BucketLookupDNS
	if c.PathStyle {
		lookup = minio.BucketLookupPath
	}
	transport, err := minio.DefaultTransport(u.Scheme == "https")
	if err != nil {
		return nil, fmt.Errorf("make client of the bucket: %w", err)
	}
	transport.ResponseHeaderTimeout = 10 * time.Second // the default of a minute is longer than a request of the API lasts
	client, err := minio.NewCore(u.Host, &minio.Options{
		Creds: c.credentials(), Secure: u.Scheme == "https", Region: c.Region, BucketLookup: lookup, MaxRetries: s3Tries, Transport: transport,
	})
	if err != nil {
		return nil, fmt.Errorf("make client of the bucket: %w", err)
	}
	return &S3{client: client, bucket: c.Bucket}, nil
}

// credentials are those of the files, or those of the role: of a web identity (IRSA), of the agent of EKS Pod Identity, of ECS or of
// the machine.
func (c S3Config) credentials() *credentials.Credentials {
	if c.Role {
		return credentials.NewIAM("")
	}
	return credentials.New(&keyFiles{from: c})
}

// keyFiles provides the access key in the files.
type keyFiles struct {
	from   S3Config
	readAt time.Time
}

// RetrieveWithCredContext implements [credentials.Provider].
func (k *keyFiles) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	v, err := k.from.keys()
	if err == nil {
		k.readAt = time.Now()
	}
	return v, err
}

// Retrieve implements [credentials.Provider].
func (k *keyFiles) Retrieve() (credentials.Value, error) { return k.RetrieveWithCredContext(nil) }

// IsExpired implements [credentials.Provider].
func (k *keyFiles) IsExpired() bool { return time.Since(k.readAt) > keysAge }

// Check reports why the bucket cannot be used.
func (s *S3) Check(ctx context.Context) error {
	exists, err := s.client.BucketExists(ctx, s.bucket)
	if err != nil {
		return fmt.Errorf("look for bucket %s: %w", s.bucket, err)
	}
	if !exists {
		return fmt.Errorf("there is no bucket %s; create it, or correct --s3-bucket", s.bucket)
	}
	return nil
}

// Put implements [Store].
func (s *S3) Put(ctx context.Context, key Key, media string, size int64, body io.ReadSeeker) error {
	_, err := s.client.Client.PutObject(ctx, s.bucket, key.String(), body, size, minio.PutObjectOptions{ContentType: media, DisableMultipart: true, SendContentMd5: true})
	if err != nil {
		return fmt.Errorf("store %s: %w", key, err)
	}
	return nil
}

// Open implements [Store].
func (s *S3) Open(ctx context.Context, key Key) (io.ReadCloser, error) {
	body, _, _, err := s.client.GetObject(ctx, s.bucket, key.String(), minio.GetObjectOptions{})
	if missing(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	return body, nil
}

// Delete implements [Store].
func (s *S3) Delete(ctx context.Context, key Key) error {
	err := s.client.RemoveObject(ctx, s.bucket, key.String(), minio.RemoveObjectOptions{})
	if err != nil && !missing(err) {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

// missing reports whether the object does not exist. A bucket that does not exist is another error.
func missing(err error) bool {
	r := minio.ToErrorResponse(err)
	return err != nil && r.StatusCode == http.StatusNotFound && r.Code == minio.NoSuchKey
}
