module hardway.dev/mco-stand-in

go 1.24

require sigs.k8s.io/yaml v1.4.0
