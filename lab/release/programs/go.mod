module hardway.dev/lab/release/programs

go 1.26

require sigs.k8s.io/yaml v1.4.0
