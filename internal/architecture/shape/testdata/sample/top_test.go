package sample

const InTest = Least
