package ops

// announced are metrics that queries may name before a process shows them. A test refuses entries that exist.
var announced = []Metric{
	{Name: "http_client_request_duration_seconds", Type: histogram, Labels: []string{"http_response_status_code", "error_type"}},
	{Name: "db_client_operation_duration_seconds", Type: histogram, Labels: []string{"db_operation_name"}},
	{Name: "messaging_client_sent_messages_total", Labels: []string{"messaging_destination_name"}},
	{Name: "messaging_client_consumed_messages_total", Labels: []string{"messaging_destination_name"}},
	{Name: "messaging_process_duration_seconds", Type: histogram, Labels: []string{"messaging_destination_name"}},
	{Name: "messaging_client_operation_duration_seconds", Type: histogram, Labels: []string{"messaging_operation_name"}},
}
