import HTTPTypes
import Screens

extension ProblemCode {
    /// The name is taken.
    static let nameTaken = ProblemCode("name-taken", .conflict, "The name is taken")
}
