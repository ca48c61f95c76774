package stages

// Numbers of diagnostics (steps.md appendix B).
const (
	CodeShown           = -1 // no code: the message has been shown already
	CodeFailed          = 2000
	CodeDuplicateURN    = 2001
	CodeInvalidResource = 2002
	CodeInvalidProperty = 2003
	CodePreviewFailed   = 2005
	CodeBadProvider     = 2006
	CodeUnknownProvider = 2007
	CodeDuplicateAlias  = 2008
	CodeProviderDenied  = 2015
	CodeURNIsAlias      = 2016
	CodeCallFailed      = 2017

	CodeTargetNotFound       = 2010
	CodeTargetNotFoundEscape = 2011
	CodeUntargetedCreate     = 2013
	CodeUntargetedDelete     = 2014
)
