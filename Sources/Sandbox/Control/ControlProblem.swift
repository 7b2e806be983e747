import HTTPTypes
import JSONValues

/// An error of the control API as a problem document (RFC 9457) that names the field and its accepted values.
struct ControlProblem: Error, Equatable, CustomStringConvertible {
    let status: HTTPResponse.Status
    let code: String
    let title: String
    let detail: String
    var field: String?
    var accepted: [String] = []
    var allow: [HTTPRequest.Method] = []

    var description: String { detail }

    var response: UpstreamResponse {
        let document: JSONObject = [
            "type": .string("urn:larder:sandbox:problem:\(code)"), "title": .string(title),
            "status": .integer(status.code), "detail": .string(detail), "code": .string(code),
            "field": field.map { .string($0) },
            "accepted": field == nil ? nil : .array(accepted.map { .string($0) }),
        ]
        var response = UpstreamResponse.json(status, .object(document), type: "application/problem+json")
        if !allow.isEmpty { response.headers[.allow] = allow.map(\.rawValue).joined(separator: ", ") }
        return response
    }

    static func invalid(field: String, value: String, accepted: [String], reason: String? = nil) -> ControlProblem {
        ControlProblem(
            status: .badRequest,
            code: "invalid-parameter",
            title: "Invalid value",
            detail: "\(field) is '\(value)'\(reason.map { " (\($0))" } ?? ""); accepted: "
                + "\(accepted.joined(separator: ", ")).",
            field: field,
            accepted: accepted
        )
    }

    static func fault(_ error: FaultSyntaxError, field: String) -> ControlProblem {
        .invalid(field: field, value: error.text, accepted: FaultSyntaxError.accepted, reason: error.reason)
    }

    static func notFound(_ what: String, field: String? = nil, accepted: [String] = []) -> ControlProblem {
        ControlProblem(
            status: .notFound,
            code: "not-found",
            title: "Not found",
            detail: what,
            field: field,
            accepted: accepted
        )
    }

    /// The problem of a path that names no control.
    /// - Parameter path: segments below `/_sandbox`
    static func nothing(at path: [String]) -> ControlProblem {
        .notFound("There is no /_sandbox/\(path.joined(separator: "/")); GET /_sandbox lists what there is.")
    }

    static func methodNotAllowed(_ method: HTTPRequest.Method, allowed: [HTTPRequest.Method]) -> ControlProblem {
        ControlProblem(
            status: .methodNotAllowed,
            code: "method-not-allowed",
            title: "Method not allowed",
            detail: "\(method.rawValue) is not for this path; accepted: "
                + "\(allowed.map(\.rawValue).joined(separator: ", ")).",
            field: "method",
            accepted: allowed.map(\.rawValue),
            allow: allowed
        )
    }

    static func forbidden(field: String, value: String?) -> ControlProblem {
        ControlProblem(
            status: .forbidden,
            code: "host-not-allowed",
            title: "Not from here",
            detail:
                "The control API serves this machine only; \(field) is \(value.map { "'\($0)'" } ?? "missing").",
            field: field,
            accepted: ["localhost", "127.0.0.0/8", "[::1]"]
        )
    }

    static func tooLarge(limit: Int) -> ControlProblem {
        ControlProblem(
            status: .contentTooLarge,
            code: "too-large",
            title: "Body too large",
            detail: "A request body has at most \(limit) bytes.",
            field: "body",
            accepted: ["at most \(limit) bytes"]
        )
    }

    static func timedOut(count: Int, milliseconds: Int) -> ControlProblem {
        ControlProblem(
            status: .requestTimeout,
            code: "timeout",
            title: "Not that many requests",
            detail: "There were fewer than \(count) matching requests after \(milliseconds) ms."
        )
    }

    static func conflict(_ detail: String) -> ControlProblem {
        ControlProblem(status: .conflict, code: "conflict", title: "Does not fit the data", detail: detail)
    }
}
