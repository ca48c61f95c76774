module github.com/sluice-iac/sluice

go 1.26
