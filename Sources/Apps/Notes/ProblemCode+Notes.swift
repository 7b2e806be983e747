import HTTPTypes
import Screens

extension ProblemCode {
    /// The name is taken.
    static let nameTaken = ProblemCode("name-taken", .conflict, .nameIsTaken)
}
