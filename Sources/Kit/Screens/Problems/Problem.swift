package import HTTPTypes

/// An error for the client: thrown as a value anywhere, written as RFC 9457 `application/problem+json` in one place.
package struct Problem: Error, Sendable, Equatable {
    /// What is wrong with one field or parameter.
    package struct FieldError: Encodable, Sendable, Equatable {
        /// JSON pointer (RFC 6901) of a field of the body.
        package var pointer: String?
        /// Name of a query parameter, a path parameter or a header field.
        package var parameter: String?
        /// What is wrong, for programs: `required`, `invalid`, `too-long`, …
        package var code: String
        /// What is wrong and what is accepted, for people.
        package var detail: Text

        /// An error in a field of the body.
        package static func field(_ pointer: String, _ code: String, _ detail: Text) -> FieldError {
            FieldError(pointer: pointer, parameter: nil, code: code, detail: detail)
        }

        /// An error in a parameter.
        package static func parameter(_ name: String, _ code: String, _ detail: Text) -> FieldError {
            FieldError(pointer: nil, parameter: name, code: code, detail: detail)
        }
    }

    /// What a front end shows in an alert.
    package struct Dialog: Encodable, Sendable, Equatable {
        /// Heading.
        package var title: Text
        /// Text.
        package var message: Text
        /// Buttons.
        package var buttons: [Text]

        /// Creates an alert.
        package init(title: Text = .error, message: Text, buttons: [Text] = [.ok]) {
            self.title = title
            self.message = message
            self.buttons = buttons
        }
    }

    /// The upstream that caused it.
    package struct UpstreamCause: Encodable, Sendable, Equatable {
        /// Its name in settings and `/v1/status`.
        package var name: String
        /// Status of its response; null if there was none.
        @Nullable package var status: Int?

        /// Names an upstream.
        package init(name: String, status: Int? = nil) {
            self.name = name
            _status = Nullable(wrappedValue: status)
        }
    }

    /// Kind of error.
    package var code: ProblemCode
    /// What happened this time, for people.
    package var detail: Text
    /// Whether an upstream is unreachable.
    package var offline: Bool
    /// The upstream that caused it, if any.
    package var upstream: UpstreamCause?
    /// The fields at fault.
    package var errors: [FieldError]
    /// What an app shows, if it differs from ``detail``.
    package var dialog: Dialog?
    /// The screen that shows what the client needs to know now, if there is one.
    package var href: Link?
    /// What the client can do instead; nil if there is nothing.
    package var actions: [Action]?
    /// Header fields that belong to it: `Allow`, `Retry-After`, `WWW-Authenticate`, …
    package var headerFields: HTTPFields

    /// Creates a problem.
    package init(
        _ code: ProblemCode,
        _ detail: Text,
        offline: Bool = false,
        upstream: UpstreamCause? = nil,
        errors: [FieldError] = [],
        dialog: Dialog? = nil,
        href: Link? = nil,
        actions: [Action]? = nil,
        headerFields: HTTPFields = [:]
    ) {
        self.code = code
        self.detail = detail
        self.offline = offline
        self.upstream = upstream
        self.errors = errors
        self.dialog = dialog
        self.href = href
        self.actions = actions
        self.headerFields = headerFields
        if code.status == .unauthorized { self.headerFields[.wwwAuthenticate] = "Bearer" }
    }

    /// What a user sees if the app has no alert of its own: the detail; the title if only the author of a client can
    /// act on the detail, which has no translation then.
    var message: Text {
        detail.isTranslated ? detail : Text("\(code.title.english).", ru: "\(code.title.russian).")
    }
}

extension Problem {
    /// 400: a query parameter, path parameter or header field is not acceptable; `accepted` says what would be.
    package static func invalidParameter(_ name: String, accepted: Text, dialog: Dialog? = nil) -> Problem {
        let error = FieldError.parameter(name, "invalid", accepted)
        return Problem(.invalidParameter, .parameter(name, accepted), errors: [error], dialog: dialog)
    }

    /// 422: fields of the body are not acceptable.
    package static func validation(_ errors: [FieldError], dialog: Dialog? = nil) -> Problem {
        Problem(.validationFailed, errors.map(\.detail).joined(separator: " "), errors: errors, dialog: dialog)
    }

    /// 503: the machine, and no file, is at fault; the log has the cause.
    package static let processingUnavailable = Problem(
        .processingUnavailable,
        .processingUnavailable,
        headerFields: [.retryAfter: "5"]
    )

    /// 507: the disk is full.
    package static let storageFull = Problem(.storageFull, .diskFull)

    /// 404.
    package static func notFound(_ what: Text) -> Problem {
        Problem(.notFound, what)
    }

    /// 421 for what another process serves.
    ///
    /// - Parameter what: The app or upstream, at the beginning of a sentence.
    static func misdirected(_ what: String) -> Problem {
        Problem(.misdirectedRequest, "\(what) is served by another process (node.apps).")
    }

    /// 405 with the methods that are allowed.
    package static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: [HTTPRequest.Method]) -> Problem {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed,
            "\(method.rawValue) is not allowed here; allowed: \(list).",
            headerFields: [.allow: list]
        )
    }
}
