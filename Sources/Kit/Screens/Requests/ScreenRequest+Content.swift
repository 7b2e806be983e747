import HTTPSemantics
import HTTPTypes

extension ScreenRequest {
    /// Refuses content that cannot be taken as it arrives.
    ///
    /// - Throws: ``Problem`` 400 if a PUT has `Content-Range`: taken as the whole, a part would destroy the rest (RFC
    ///   9110 §14.5). 415 if content is compressed (§15.5.16): no route decodes it.
    func requireWholeContent() throws(Problem) {
        guard [.post, .put, .patch].contains(method) else { return }
        if method == .put, headerFields[.contentRange] != nil {
            throw Problem.invalidParameter("Content-Range", accepted: "is not accepted: the whole is sent")
        }
        let codings = headerFields[values: .contentEncoding].flatMap { FieldList.members(of: $0) }
        if let coding = codings.first(where: { $0.lowercased() != "identity" }) {
            throw Problem(
                .unsupportedMediaType,
                "Content-Encoding \(coding) is not accepted here; accepted: identity.",
                headerFields: [.acceptEncoding: "identity"]
            )
        }
    }
}
