import HTTPTypes
import Screens

extension ProblemCode {
    /// 423: another operation of the API holds the item; the same request may succeed later.
    static let locked = ProblemCode(
        "locked",
        HTTPResponse.Status(code: 423, reasonPhrase: "Locked"),
        "Another operation is using this",
        isRetryable: true
    )
    /// This is not a folder.
    static let notAFolder = ProblemCode("not-a-folder", .conflict, "This is not a folder")
}
