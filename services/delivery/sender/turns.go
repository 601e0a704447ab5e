package sender

import "github.com/google/uuid"

// turns has the deliveries of one record to one receiver made one after the other, so that the second does not overtake the
// first; see docs/architecture.md#order-of-deliveries. A key is a record of which a job has the turn: it runs, or is the first
// in the queue. Its value are the jobs that wait for the turn, in order.
type turns map[uuid.UUID][]*job

// hold moves jobs from the front of the queue to the turns of their records, until one is in front that may run.
func (q *receiverQueue) hold() {
	for len(q.jobs) > 0 {
		j := q.jobs[0]
		waiting, taken := q.turns[j.msg.Entity]
		if j.turn || !taken {
			return
		}
		q.turns[j.msg.Entity] = append(waiting, j)
		q.held++
		q.shift()
	}
}

// takeTurn gives a job that starts the turn of its record.
func (q *receiverQueue) takeTurn(j *job) {
	if j.turn || j.msg.Entity == uuid.Nil {
		return
	}
	if q.turns == nil {
		q.turns = turns{}
	}
	q.turns[j.msg.Entity], j.turn = nil, true
}

// endTurn puts the job whose turn is next in front of the queue.
func (q *receiverQueue) endTurn(j *job) {
	if !j.turn {
		return
	}
	j.turn = false
	waiting := q.turns[j.msg.Entity]
	if len(waiting) == 0 {
		delete(q.turns, j.msg.Entity)
		return
	}
	next := waiting[0]
	waiting[0] = nil
	q.turns[j.msg.Entity] = waiting[1:]
	q.held--
	next.turn = true
	q.jobs = append(q.jobs, nil)
	copy(q.jobs[1:], q.jobs)
	q.jobs[0] = next
}

// takeHeld removes the jobs that match from those that wait for a turn.
func (q *receiverQueue) takeHeld(match func(*job) bool) (out []*job) {
	if q.held == 0 {
		return nil
	}
	for record, waiting := range q.turns {
		kept := waiting[:0:0]
		for _, j := range waiting {
			if match(j) {
				out = append(out, j)
			} else {
				kept = append(kept, j)
			}
		}
		q.turns[record] = kept
	}
	q.held -= len(out)
	for _, j := range out {
		q.bytes -= int64(len(j.msg.Body))
	}
	return out
}

// shift removes the first job of the queue.
func (q *receiverQueue) shift() {
	q.jobs[0] = nil
	if q.jobs = q.jobs[1:]; len(q.jobs) == 0 {
		q.jobs = nil
	}
}

// waiting is how many jobs wait, for a slot or for a turn.
func (q *receiverQueue) waiting() int { return len(q.jobs) + q.held }
