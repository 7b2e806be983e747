import HTTPTypes
import Screens

extension ProblemCode {
    /// The only page of a document cannot be deleted.
    static let lastPage = ProblemCode("last-page", .conflict, .lastPage)
    /// A draft has to be saved first.
    static let notSaved = ProblemCode("not-saved", .conflict, .notSaved)
}
