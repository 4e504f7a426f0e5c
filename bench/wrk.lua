-- Lets wrk print one line of JSON that bench/throughput.py reads. Times are in microseconds.
done = function(summary, latency, requests)
  local errors = summary.errors
  print(string.format(
    'JSON {"requests": %d, "duration": %d, "median": %d, "p99": %d, "failed": %d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
