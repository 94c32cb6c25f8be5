module github.com/graphcloak/graphcloak/bench

go 1.26.0

require (
	github.com/graphcloak/graphcloak v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/netresearch/go-cron v0.14.0 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/graphcloak/graphcloak => ../
