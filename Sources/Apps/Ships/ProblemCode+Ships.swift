import HTTPTypes
import Screens

extension ProblemCode {
    /// The ship was deleted.
    static let shipDeleted = ProblemCode("ship-deleted", .notFound, .shipDeleted)
}
