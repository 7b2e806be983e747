package import Cluster
import Foundation
package import HTTPTypes
package import Hummingbird
package import Server
package import Storage

/// An error for the client: thrown as a value anywhere, written as RFC 9457 `application/problem+json` in one place.
package struct Problem: Error, Sendable, Equatable {
    /// A fault of one field or parameter.
    package struct FieldError: Encodable, Sendable, Equatable {
        /// JSON pointer (RFC 6901) of a field of the body.
        package var pointer: String?
        /// Name of a query parameter, a path parameter or a header field.
        package var parameter: String?
        /// The fault, for programs: `required`, `invalid`, `too-long`, …
        package var code: String
        /// The fault and the accepted values, for people.
        package var detail: Text

        package static func field(_ pointer: String, _ code: String, _ detail: Text) -> FieldError {
            FieldError(pointer: pointer, parameter: nil, code: code, detail: detail)
        }

        package static func parameter(_ name: String, _ code: String, _ detail: Text) -> FieldError {
            FieldError(pointer: nil, parameter: name, code: code, detail: detail)
        }
    }

    /// The content of an alert.
    package struct Dialog: Encodable, Sendable, Equatable {
        package var title: Text
        package var message: Text
        package var buttons: [Text]

        package init(title: Text = .error, message: Text, buttons: [Text] = [.ok]) {
            self.title = title
            self.message = message
            self.buttons = buttons
        }
    }

    package struct UpstreamCause: Encodable, Sendable, Equatable {
        /// Its name in settings and `/v1/status`.
        package var name: String
        /// Status of its response; null if there was none.
        @Nullable package var status: Int?

        package init(name: String, status: Int? = nil) {
            self.name = name
            self.status = status
        }
    }

    package var code: ProblemCode
    /// A description of this occurrence, for people.
    package var detail: Text
    /// Whether an upstream is unreachable.
    package var offline: Bool
    /// The upstream that caused it, if any.
    package var upstream: UpstreamCause?
    /// The fields at fault.
    package var errors: [FieldError]
    /// The alert of the app, if it differs from ``detail``.
    package var dialog: Dialog?
    /// The screen that the client needs now, if there is one.
    package var href: Link?
    /// Actions that the client can take instead; nil if there are none.
    package var actions: [Action]?
    /// Header fields that belong to it: `Allow`, `Retry-After`, `WWW-Authenticate`, …
    package var headerFields: HTTPFields

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

    /// The text for a user if the app has no alert of its own. It is the detail, or the title if the detail has no
    /// translation: then only the author of a client can act on the detail.
    package var message: Text {
        detail.isTranslated ? detail : Text("\(code.title.english).", ru: "\(code.title.russian).")
    }
}

extension Problem {
    /// 400: a query parameter, path parameter or header field is not acceptable; `accepted` names acceptable values, as
    /// a part of a sentence for authors of clients. A user is shown the text of the dialog.
    package static func invalidParameter(_ name: String, accepted: Text, dialog: Dialog? = nil) -> Problem {
        let error = FieldError.parameter(name, "invalid", dialog?.message ?? accepted)
        return Problem(.invalidParameter, .parameter(name, accepted), errors: [error], dialog: dialog)
    }

    /// 422: fields of the body are not acceptable. Errors that only authors of clients understand are shown to users by
    /// the text of the dialog, if there is one.
    package static func validation(_ errors: [FieldError], dialog: Dialog? = nil) -> Problem {
        let detail = errors.map(\.detail).joined(separator: " ")
        let shown = errors.map { error in
            guard let dialog, !error.detail.isTranslated else { return error }
            var error = error
            error.detail = dialog.message
            return error
        }
        return Problem(.validationFailed, detail, errors: shown, dialog: dialog)
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

    /// 421 for an app or upstream of another process, whose name begins the sentence.
    static func misdirected(_ what: String) -> Problem {
        Problem(.misdirectedRequest, "\(what) is served by another process (node.apps).")
    }

    /// 405 with the methods that are allowed.
    static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: [HTTPRequest.Method]) -> Problem {
        let list = allowed.map(\.rawValue).joined(separator: ", ")
        return Problem(
            .methodNotAllowed,
            "\(method.rawValue) is not allowed here; allowed: \(list).",
            headerFields: [.allow: list]
        )
    }
}

/// The body of a problem response: RFC 9457 with the members of docs/contract.md, "Problems".
struct ProblemDocument: Encodable, Sendable {
    /// `urn:larder:problem:<code>`.
    var type: String
    /// The same for all problems of a code.
    var title: Text
    var status: Int
    /// A description of this occurrence.
    var detail: Text
    var instance: String
    /// The code by itself.
    var code: String
    /// Always `error`: the fourth state of a screen.
    var state = "error"
    /// Whether an upstream is unreachable.
    var offline: Bool
    /// Whether the same request may succeed later.
    var retryable: Bool
    @Nullable var upstream: Problem.UpstreamCause?
    var errors: [Problem.FieldError]
    /// The alert of the app.
    var dialog: Problem.Dialog
    /// The screen that the client needs now; left out if there is none.
    var href: Link?
    /// Actions that the client can take instead; left out if there are none.
    var actions: [Action]?

    /// - Parameter instance: path of the request without its query, which may hold private data
    init(_ problem: Problem, instance: String) {
        type = "urn:larder:problem:\(problem.code.rawValue)"
        title = problem.code.title
        status = problem.code.status.code
        detail = problem.detail
        self.instance = instance
        code = problem.code.rawValue
        offline = problem.offline
        retryable = problem.code.isRetryable
        upstream = problem.upstream
        errors = problem.errors
        dialog = problem.dialog ?? Problem.Dialog(message: problem.message)
        href = problem.href
        actions = problem.actions
    }

    /// Returns the document's bytes.
    /// - Throws: `EncodingError`.
    func bytes() throws -> Data { try WireFormat.encode(self) }
}

extension Problem {
    /// Returns the response of a server whose routes do not exist yet, in the language of the request.
    ///
    /// - Throws: `EncodingError`.
    package func response(to request: Request) throws -> Response {
        try Language.$current.withValue(Language(acceptedBy: request.headers, original: .english)) {
            try ScreenResponseRenderer.render(.problem(self, instance: request.uri.path), for: request.head)
        }
    }

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

    /// Creates the problem of data that cannot be read or written. Nil for an error that is no fault of the disk, such
    /// as a body of another length than announced.
    ///
    /// The text has no paths: those are in the log.
    package init?(_ error: StorageError) {
        switch error {
        case .diskFull:
            self = .storageFull
        case .notWritable, .notReadable, .inputOutput, .databaseBusy, .damagedDatabase, .blobUnavailable,
            .secretNotAuthentic:
            self.init(.storageFailed, .storageFailed)
        default: return nil
        }
    }
}

extension ProblemCode {
    /// 503: the shared store cannot be read or changed now, and nothing was changed.
    static let storeUnavailable = ProblemCode(
        "store-unavailable",
        .serviceUnavailable,
        Text("Your data cannot be reached", ru: "Ваши данные сейчас недоступны"),
        isRetryable: true
    )
}

extension Problem {
    /// How long a client should wait for the store, in seconds.
    private static let pause = 2

    /// Creates the problem of a store that does not respond, or did not confirm a change; nil for other errors.
    ///
    /// The text does not say why: that is in the log.
    package init?(_ error: ClusterError) {
        switch error {
        case .unavailable, .closed:
            self.init(.storeUnavailable, .storeUnavailable, headerFields: [.retryAfter: "\(Self.pause)"])
        case .outcomeUnknown: self.init(.outcomeUnknown, .storeOutcomeUnknown)
        case .diskFull: self.init(.storageFull, .diskFull)
        case .notUnique, .refused, .textNotStorable, .noSuchColumn, .typeMismatch, .ambiguousMigration, .newerSchema,
            .libraryUnusable, .serverUnusable:
            return nil
        }
    }
}
