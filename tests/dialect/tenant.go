package dialect

import (
	"regexp"
	"slices"
	"strings"
)

// allowance lets statements work across companies.
type allowance struct {
	pattern *regexp.Regexp // of the bare statement
	reason  string
}

func allow(pattern, reason string) allowance {
	return allowance{pattern: regexp.MustCompile(`(?i)` + pattern), reason: reason}
}

// allowances are the statements that serve all companies at once.
var allowances = []allowance{
	allow(`\b(FROM|UPDATE|INTO) outbox\b.*\bbucket\b`, "the relay works by bucket, which holds many companies"),
	allow(`\b(FROM|UPDATE|INTO) outbox_dead\b`, "operators look at what Kafka never took, over all companies"),
	allow(`^SELECT (count\(\*\)|COALESCE|min|EXISTS).* FROM outbox\b`, "depth and age of the whole outbox are measured"),
	allow(`^DELETE FROM \w+ WHERE \([\w, ]+\) IN \( ?SELECT [\w, ]+ FROM \w+ WHERE expires_at <=? \$\d`, "housekeeping removes what has expired"),
	allow(`\bFROM jobs WHERE ended_at IS NULL AND (run_at|type)\b`, "workers look for open jobs of all companies; there are few at any time"),
	allow(`\bFROM jobs WHERE (ended_at IS NULL|status = '\w*') ORDER BY created_at\b`, "operators look at open and failed jobs of all companies, by partial indexes"),
	allow(`\bFROM notices WHERE status = '' AND next_at\b`, "the age of the notices that wait to be sent is measured; there are few at any time"),
	allow(`FROM file_blobs WHERE due_at <= `, "the sweeper looks for contents of all companies that are due; there are few at any time"),
	allow(`FROM bookings WHERE reminder_at <= `, "reminders of all companies that are due are raised; those that were leave the partial index"),
	allow(`FROM booking_replans WHERE due_at <= `, "the companies that have set other reminders are planned anew; there are few at any time"),
	allow(`FROM deliveries WHERE state < 2 GROUP BY waits\b`, "operators look at what all open deliveries wait for"),
	allow(`FROM webhook_subscriptions WHERE breaker_opens > 0\b`, "operators look at the receivers of all companies that rest"),
	allow(`\bFROM sessions WHERE hash = \$\d`, "a session is found by the hash of its cookie, and tells the company"),
	allow(`\bFROM account_links AS l LEFT JOIN accounts\b.*\bhash = \$\d`, "a link is found by the hash of its secret, and tells the company"),
	allow(`\bFROM account_links WHERE email = \$\d AND email <> ''`, "who has no account yet names an address, and the invitations to it tell the companies"),
	allow(`^DELETE FROM (sessions|account_links) WHERE created_at <=`, "after a restore, everybody signs in again"),
	allow(`^SELECT company_id, user_id, user_id, totp_secret FROM accounts WHERE`, "operators bring second factors of all companies under another key"),
	allow(`^SELECT company_id, id, user_id, credential FROM passkeys WHERE`, "operators bring passkeys of all companies under another key"),
	allow(`\bFROM passkeys WHERE hash = \$\d`, "a passkey is found by the hash of its id, and tells the company"),
	allow(`\bFROM account_identities AS i JOIN accounts\b.*\bi\.issuer = \$\d AND i\.subject = \$\d`, "an identity is found by its provider and subject, and tells the company"),
	allow(`\bFROM accounts WHERE email = \$\d`, "who signs in names an address, which tells the company"),
	allow(`\bFROM token_secrets\b.*\bhash = (\$\d|ANY)`, "authentication finds the company by the hash of the token"),
}

var tableName = regexp.MustCompile(`(?i)\b(?:FROM|JOIN|UPDATE|INTO)\s+(?:ONLY\s+)?(\w+)`)

// tablesOf lists the names that a statement reads or changes, in lower case.
func tablesOf(text string) (tables []string) {
	for _, m := range tableName.FindAllStringSubmatch(text, -1) {
		if name := strings.ToLower(m[1]); !slices.Contains(tables, name) {
			tables = append(tables, name)
		}
	}
	return tables
}

var (
	predicate  = regexp.MustCompile(`(?i)\b(WHERE|ON|USING)\b`)
	insertInto = regexp.MustCompile(`(?i)^INSERT INTO \w+(?: AS \w+)? ?\(([^)]*)\)`)
	company    = regexp.MustCompile(`(?i)\bcompany_id\b`)
)

// CheckTenant refuses a statement on a table of companies that does not say for which company.
func CheckTenant(st Statement, schema Schema) []Hit {
	text := bare(st.SQL)
	for _, table := range tablesOf(text) {
		if !schema.Tenant(table) || namesCompany(text) {
			continue
		}
		if slices.ContainsFunc(allowances, func(a allowance) bool { return a.pattern.MatchString(text) }) {
			continue
		}
		return []Hit{{"company", "table " + table + " belongs to companies: compare company_id in WHERE or ON, or allow the statement with a reason in tests/dialect/tenant.go"}}
	}
	return nil
}

// namesCompany reports whether company_id is compared, or inserted; being selected is not enough.
func namesCompany(text string) bool {
	if m := insertInto.FindStringSubmatch(text); m != nil {
		return company.MatchString(m[1])
	}
	at := predicate.FindStringIndex(text)
	return at != nil && company.MatchString(text[at[1]:])
}
