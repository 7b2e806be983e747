import HTTPTypes
import Screens

extension ProblemCode {
    /// The list is empty.
    static let listEmpty = ProblemCode("list-empty", .conflict, .emptyList)
}
