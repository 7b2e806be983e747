package import Concurrency
import HTTPSemantics
import HTTPServer
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

    /// Returns the body as the content of a file, to be read once; limiting its size is up to the reader.
    ///
    /// A form would be stored with its envelope. That of `curl -d` has none, but curl removes line ends from it, which
    /// nobody would notice.
    ///
    /// - Throws: ``Problem`` 415 for a form, which says how to send it.
    package func fileContent() throws(Problem) -> ByteStream {
        let type = headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        guard let type, type == "multipart/form-data" || type == "application/x-www-form-urlencoded" else {
            return bodyStream
        }
        throw Problem(
            .unsupportedMediaType,
            "A form (\(type)) is not accepted here; accepted: the bytes of the file alone, with its own Content-Type, "
                + "application/octet-stream or none. curl sends them with -T FILE."
        )
    }

    /// Refuses content that is not declared to be JSON.
    ///
    /// A program may leave the declaration out or send that of a form, as `curl -d` does. A page may not: what it can
    /// send without one, or as a form or text, it can send to any origin without asking (Fetch Standard,
    /// CORS-safelisted request-header).
    ///
    /// - Parameter other: another media type that the route accepts, for the error.
    /// - Throws: ``Problem`` 415 that says how to send it.
    func requireJSON(or other: String? = nil) throws(Problem) {
        let type = headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        if let type, type == "application/json" || type.hasSuffix("+json") { return }
        let hasContent = headerFields[.transferEncoding] != nil || declaredBodyLength ?? 0 > 0
        if type == nil, !hasContent { return }
        let isOfPage = OriginRules.isOfBrowser(headerFields)
        if !isOfPage, type == nil || type == "application/x-www-form-urlencoded" { return }
        let accepted = (["application/json"] + [other].compactMap(\.self)).joined(separator: ", ")
        throw Problem(
            .unsupportedMediaType,
            "\(type ?? "A body without a type") is not accepted here\(isOfPage ? " from a page" : ""); accepted: "
                + "\(accepted). JSON is sent with the header field Content-Type: application/json."
        )
    }
}
