package import HTTPServer

extension Problem {
    /// The problem of a body that is no form: 415 for another kind of body, 400 for a broken one.
    package init(_ error: MultipartError) {
        switch error {
        case .otherType(let type):
            let given = type.isEmpty ? "A body without Content-Type" : type
            self.init(.unsupportedMediaType, "\(given) is not accepted here; accepted: multipart/form-data.")
        case .badBoundary:
            self.init(
                .malformedRequest,
                "The boundary of multipart/form-data must be 1 to 70 of the characters that RFC 2046 allows, "
                    + "not ending in a space."
            )
        case .malformedDelimiter:
            self.init(.malformedRequest, "A boundary of the form is followed by something else than a line end or --.")
        case .headerTooLarge(let limit):
            self.init(.malformedRequest, "The header of a part of the form may have \(limit) bytes at most.")
        case .malformedHeader(let fault):
            self.init(.malformedRequest, "The header of a part of the form cannot be read: \(fault).")
        case .truncated:
            self.init(.malformedRequest, "The form ends before its last boundary.")
        }
    }
}
