package roles

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/services/console/web"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// ProviderFlags name the OpenID Connect provider by which people sign in to the console, too.
type ProviderFlags struct {
	OIDCIssuer           string   `name:"oidc-issuer" help:"OpenID Connect provider by which people sign in to the console, too, such as https://login.example.com. Empty = none. Register --console-url with the path /sign-in/provider/callback there." placeholder:"URL"`
	OIDCClientID         string   `name:"oidc-client-id" help:"Id of the console at the provider. Required with --oidc-issuer." placeholder:"ID"`
	OIDCClientSecretFile string   `name:"oidc-client-secret-file" help:"File with the secret of the console at the provider; without, it is a public client." type:"path" placeholder:"FILE"`
	OIDCEmailDomains     []string `name:"oidc-email-domains" help:"Domains of the e-mail addresses that may sign in by the provider, such as example.com. Empty = any." placeholder:"DOMAIN"`
}

const flagProviderSecret = "--oidc-client-secret-file"

var domainName = regexp.MustCompile(`^@?([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]+$`)

// checkProvider validates the flags, and reads the file. It does not ask the provider: the console starts without it.
func (f ProviderFlags) checkProvider(console string) error {
	if f.OIDCIssuer == "" {
		if f.OIDCClientID != "" || f.OIDCClientSecretFile != "" || len(f.OIDCEmailDomains) > 0 {
			return errors.New("flags of --oidc- are given without --oidc-issuer: give the address of the provider")
		}
		return nil
	}
	var faults []error
	u, err := url.Parse(f.OIDCIssuer)
	switch {
	case err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		faults = append(faults, fmt.Errorf("--oidc-issuer %q: must be an address such as https://login.example.com, exactly as the provider names itself", f.OIDCIssuer))
	case u.Scheme == "http" && !Local(u.Hostname()):
		faults = append(faults, fmt.Errorf("--oidc-issuer %q: must be https://; http:// is for this machine only", f.OIDCIssuer))
	}
	if f.OIDCClientID == "" {
		faults = append(faults, errors.New("--oidc-client-id is required with --oidc-issuer: give the id that the console has at the provider"))
	}
	if console == "" {
		faults = append(faults, errors.New("--oidc-issuer is given without --console-url: the provider sends people back there"))
	}
	for _, d := range f.OIDCEmailDomains {
		if !domainName.MatchString(d) {
			faults = append(faults, fmt.Errorf("--oidc-email-domains %q: must be a domain such as example.com", d))
		}
	}
	if f.OIDCClientSecretFile != "" {
		_, err := secret.File(flagProviderSecret, f.OIDCClientSecretFile)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// provider is nil if there is none.
func (f ProviderFlags) provider(console string) *accounts.Provider {
	if f.OIDCIssuer == "" {
		return nil
	}
	cfg := accounts.ProviderConfig{Issuer: f.OIDCIssuer, ClientID: f.OIDCClientID, Domains: f.OIDCEmailDomains, Redirect: console + web.ProviderCallback}
	if f.OIDCClientSecretFile != "" {
		cfg.ClientSecret = func() (string, error) { return secret.File(flagProviderSecret, f.OIDCClientSecretFile) }
	}
	return accounts.NewProvider(cfg)
}
