package ratelimit

// Decision is the answer to a request, with what its headers need.
type Decision struct {
	OK                bool
	Unlimited         bool // the token has no limit; the numbers say so by being very large
	Limit             int  // burst
	Remaining         int  // requests that would be let through at once on this node
	Quota             int  // requests per window in the long run (20/s = 1200 per 60 s)
	WindowSeconds     int  // 60
	ResetSeconds      int  // until the bucket is full
	RetryAfterSeconds int  // ≥ 1 when not OK
}

// window is the time that Quota is told for, in seconds.
const window = 60
