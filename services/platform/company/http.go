package company

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations about the caller's own company.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.Read(r, "/branches", "listBranches", "List branches", s.branchEntries,
		httpapi.Doc("An array of ids and names for the fields `branchId`, the default branch first; `isActive` is false for a closed one."))
	httpapi.Read(r, "/users", "listUsers", "List users", s.userEntries,
		httpapi.Doc("An array of ids and names by name, for the fields `assignedToId`; technical users of tokens are left out."))
	own := self.On(api, s.cfg.DB)
	httpapi.Read(own, "/company", "getCompany", "Read the company of the caller", s.companyInfo,
		httpapi.Doc("What an integration has to know before it sends anything: currency with its decimals, time zone, stock policy and enabled components. "+
			"It has no errors of its own: every valid token may ask."))
	httpapi.Read(own, "/token", "getToken", "Read the token of the caller", tokenInfo,
		httpapi.Doc("The caller's own token with scopes, expiry and rate limit, a cheap way to check that it works; the secret is not in it. "+
			"It has no errors of its own: every valid token may ask."))
}

// RegisterAdmin adds the operations on companies, branches, users and tokens.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	all := platform.On(api, s.cfg.DB)
	httpapi.List(all, "/companies", "listCompanies", "List companies", s.Companies,
		httpapi.Doc("Companies of the whole platform, newest first, archived ones included."))
	httpapi.Create(all, "/companies", "createCompany", "Create a company with its default branch and warehouse", s.createCompany,
		httpapi.Doc("Makes the company with a branch, a warehouse and directories to start with in one transaction; without `components` all are enabled. "+
			"Fails with `VALIDATION_ERROR` for an unknown plan, currency, time zone or component."))
	httpapi.Read(all, "/plans", "listPlans", "List plans", listPlans,
		httpapi.Doc("An array of the plans with what each allows, such as requests in flight and access to the API."))
	httpapi.Read(all, "/access", "getAccess", "List scopes and components", s.accessInfo,
		httpapi.Doc("The names that tokens may have as scopes and companies as components; those in `alwaysOn` cannot be disabled."))

	r := group.On(api, s.cfg.DB)
	httpapi.Read(r, "", "getCompany", "Read a company", s.Own,
		httpapi.Doc("The settings, the plan and the enabled components of the company in the path; operators read archived ones, too. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Change(r, "PATCH ", "updateCompany", "Update a company", s.httpConfigure,
		httpapi.Doc("Fields that are not sent stay; every process applies the new settings within seconds, this one at once. "+
			"Fails with `COMPANY_NOT_FOUND`, and with `VALIDATION_ERROR` for an unknown plan, time zone or locale."))
	httpapi.Change(r, "/archive", "archiveCompany", "Archive a company", s.httpArchive,
		httpapi.Doc("From now on all tokens of the company are answered 401, and its data stays; a repeat changes nothing. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Change(r, "/restore", "restoreCompany", "Restore an archived company", s.httpRestore,
		httpapi.Doc("Its tokens work again at once; of a company that is not archived it changes nothing. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Change(r, "/components", "setCompanyComponent", "Enable or disable a component", s.httpSetComponent,
		httpapi.Doc("Operations and events of a disabled component are refused and not delivered, and its records stay; a repeat changes nothing. "+
			"Fails with `COMPANY_NOT_FOUND`, and with `VALIDATION_ERROR` for an unknown component or one that is always on."))

	httpapi.Read(r, "/branches", "listBranches", "List branches", s.Branches,
		httpapi.Doc("An array of all branches, the default first, closed ones included. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Create(r, "/branches", "createBranch", "Create a branch", s.CreateBranch,
		httpapi.Doc("Adds an open branch; its warehouse is created by an operation of its own. "+
			"Fails with `COMPANY_NOT_FOUND`, and with `VALIDATION_ERROR` for a name that is missing or too long."))
	httpapi.Get(r, "/branches/{id}", "getBranch", "Read a branch", branches.GetFrom(s.cfg.DB),
		httpapi.Doc("One branch with its name and whether it is open and the default. "+
			"Fails with `BRANCH_NOT_FOUND`."))
	httpapi.Update(r, "/branches/{id}", "updateBranch", "Update a branch", s.UpdateBranch,
		httpapi.Doc("Renames, opens or closes a branch; a closed one cannot get a warehouse, and records keep it. "+
			"Fails with `BRANCH_NOT_FOUND`, and with `BRANCH_IS_DEFAULT` if the default branch would be closed."))

	httpapi.ReadWith(r, "/users", "listUsers", "List users", s.listUsers,
		httpapi.Doc("An array by name; `includeTechnical` adds the technical users of tokens. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Create(r, "/users", "inviteUser", "Invite a user", s.InviteUser,
		httpapi.Doc("Adds a user in the status `invited` and raises `user.invited`; no e-mail is sent. "+
			"Fails with `USER_EMAIL_TAKEN` if another user of the company has the address, compared without regard to case."))
	httpapi.Get(r, "/users/{id}", "getUser", "Read a user", s.User,
		httpapi.Doc("One user with e-mail, role and status; technical users of tokens are found, too. "+
			"Fails with `USER_NOT_FOUND`."))
	httpapi.Update(r, "/users/{id}", "updateUser", "Update a user", s.UpdateUser,
		httpapi.Doc("Changes the name or the role, which decides what the user may do in the console from the next request on. "+
			"Fails with `USER_NOT_FOUND`, with `USER_IS_TECHNICAL` for the user of a token, and with `USER_IS_LAST_OWNER` if the company would have no active owner."))
	httpapi.Command(r, "/users/{id}/activate", "activateUser", "Activate a user", s.ActivateUser,
		httpapi.Doc("An invited or blocked user becomes active; a repeat changes nothing. "+
			"Fails with `USER_NOT_FOUND`, and with `USER_IS_TECHNICAL` for the user of a token."))
	httpapi.Command(r, "/users/{id}/block", "blockUser", "Block a user", s.BlockUser,
		httpapi.Doc("Records keep the user, whose `isActive` becomes false for integrations; a repeat changes nothing. "+
			"Fails with `USER_NOT_FOUND`, with `USER_IS_TECHNICAL` for the user of a token, and with `USER_IS_LAST_OWNER` if the company would have no active owner."))

	httpapi.ReadWith(r, "/tokens", "listTokens", "List the tokens of a company", s.listTokens,
		httpapi.Doc("An array, newest first, without secrets; `includeRevoked` adds revoked ones. "+
			"Fails with `COMPANY_NOT_FOUND`."))
	httpapi.Create(r, "/tokens", "issueToken", "Issue a token; only this response shows its text", s.issueToken, showsSecret,
		httpapi.Doc("Creates a token with a technical user of its own; the text in `token` is shown only here and in a repeat with the same idempotency key. "+
			"Fails with `TOKEN_LIMIT_REACHED` above 50 tokens that are not revoked, and with `VALIDATION_ERROR` for an unknown scope."))
	httpapi.Get(r, "/tokens/{id}", "getToken", "Read a token", s.Token,
		httpapi.Doc("Name, scopes, rate and expiry; the secret cannot be read again. "+
			"Fails with `TOKEN_NOT_FOUND`."))
	httpapi.Update(r, "/tokens/{id}", "updateToken", "Update a token", s.UpdateToken,
		httpapi.Doc("Changes name, scopes, expiry and allowed addresses; its secrets stay, and an expired token that gets a later expiry works again. "+
			"Fails with `TOKEN_NOT_FOUND`, with `TOKEN_REVOKED` for a revoked token, and with `VALIDATION_ERROR` for an unknown scope or an expiry that has passed."))
	httpapi.Command(r, "/tokens/{id}/revoke", "revokeToken", "Revoke a token", s.RevokeToken,
		httpapi.Doc("Ends the token with all its secrets at once and for good; a repeat changes nothing. "+
			"Fails with `TOKEN_NOT_FOUND`."))
	httpapi.CommandWith(r, "/tokens/{id}/rotate", "rotateToken", "Rotate the secret of a token; only this response shows its text", s.rotateToken, showsSecret,
		httpapi.Doc("Older secrets stay valid for `overlapHours`, 24 by default, so that an integration can change over; the new text is shown only here. "+
			"Fails with `TOKEN_NOT_FOUND`, and with `TOKEN_REVOKED` for a revoked token."))

	httpapi.OneOf[Input](api, "plan", planNames())
	httpapi.OneOf[Settings](api, "plan", planNames())
	httpapi.OneOf[Input](api, "components", s.cfg.Access.Components())
	httpapi.OneOf[Switch](api, "component", s.cfg.Access.Components())
	httpapi.OneOf[TokenInput](api, "scopes", s.cfg.Access.Scopes())
	httpapi.OneOf[TokenSettings](api, "scopes", s.cfg.Access.Scopes())
}

// showsSecret marks an operation whose stored response is encrypted.
func showsSecret(op *httpapi.Op) { op.Secret = true }
