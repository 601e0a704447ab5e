package web

// The fields by which people prove who they are, on the pages of sign-in and of the own account.

// CurrentPassword asks for the password of who is signed in, before a change of credentials.
func CurrentPassword(q *Request, name, fault string) Field {
	return Field{Name: name, Label: q.T("account.password.current"), Type: "password", Autocomplete: "current-password", Required: true, Fault: fault}
}

// NewPassword asks for another password.
func NewPassword(q *Request, fault string) Field {
	return Field{
		Name: "password", Label: q.T("link.password"), Type: "password", Autocomplete: "new-password", Required: true, Help: q.T("link.password.help"), Fault: fault,
	}
}

// OneTimeCode asks for a code of the second factor.
func OneTimeCode(q *Request, help, fault string) Field {
	return Field{Name: "code", Label: q.T("signin.code"), Autocomplete: "one-time-code", Required: true, Focus: true, Help: help, Fault: fault}
}
