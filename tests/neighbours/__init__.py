"""Programs that read what is made: what they make of it, by their own code, which tools/golang/neighbours builds."""
