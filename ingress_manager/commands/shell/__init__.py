"""The shell of the commands: it reads files, runs kubectl and prints. It decides nothing.

main       the commands, by their names
options    the options that several commands have, and what they stand for: where objects and settings come from
names      objects that are named as arguments
steps      takes the steps of `adopt --apply` and `release --apply`
files      files and folders → manifests
kubectl    runs kubectl as the user
loopback   serves the page of `play`
console    findings, notes and progress on standard error
"""
