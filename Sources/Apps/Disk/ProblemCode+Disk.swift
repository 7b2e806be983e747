import HTTPTypes
import Screens

extension ProblemCode {
    /// This is not a folder.
    static let notAFolder = ProblemCode("not-a-folder", .conflict, "This is not a folder")
}
