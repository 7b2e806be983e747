import HTTPTypes
import Screens

extension ProblemCode {
    static let listEmpty = ProblemCode("list-empty", .conflict, .emptyList)
}
