package sender

import "github.com/google/uuid"

// turns has the deliveries of one record to one receiver made one after the other, so that the second does not overtake the
// first; see docs/architecture.md#order-of-deliveries. A key is a record of which a job has the turn: it runs, or is the first
// in the queue. Its value are the jobs that wait for the turn, in order.
type turns map[uuid.UUID][]*job

// hold moves jobs from the front of the queue to the turns of their records, until one is in front that may run.
func (l *lane) hold() {
	for len(l.queue) > 0 {
		j := l.queue[0]
		waiting, taken := l.turns[j.msg.Entity]
		if j.turn || !taken {
			return
		}
		l.turns[j.msg.Entity] = append(waiting, j)
		l.held++
		l.shift()
	}
}

// takeTurn gives a job that starts the turn of its record.
func (l *lane) takeTurn(j *job) {
	if j.turn || j.msg.Entity == uuid.Nil {
		return
	}
	if l.turns == nil {
		l.turns = turns{}
	}
	l.turns[j.msg.Entity], j.turn = nil, true
}

// endTurn puts the job whose turn is next in front of the queue.
func (l *lane) endTurn(j *job) {
	if !j.turn {
		return
	}
	j.turn = false
	waiting := l.turns[j.msg.Entity]
	if len(waiting) == 0 {
		delete(l.turns, j.msg.Entity)
		return
	}
	next := waiting[0]
	waiting[0] = nil
	l.turns[j.msg.Entity] = waiting[1:]
	l.held--
	next.turn = true
	l.queue = append(l.queue, nil)
	copy(l.queue[1:], l.queue)
	l.queue[0] = next
}

// takeHeld removes the jobs that match from those that wait for a turn.
func (l *lane) takeHeld(match func(*job) bool) (out []*job) {
	if l.held == 0 {
		return nil
	}
	for record, waiting := range l.turns {
		kept := waiting[:0:0]
		for _, j := range waiting {
			if match(j) {
				out = append(out, j)
			} else {
				kept = append(kept, j)
			}
		}
		l.turns[record] = kept
	}
	l.held -= len(out)
	for _, j := range out {
		l.bytes -= int64(len(j.msg.Body))
	}
	return out
}

// shift removes the first job of the queue.
func (l *lane) shift() {
	l.queue[0] = nil
	if l.queue = l.queue[1:]; len(l.queue) == 0 {
		l.queue = nil
	}
}

// waiting is how many jobs wait, for a slot or for a turn.
func (l *lane) waiting() int { return len(l.queue) + l.held }
