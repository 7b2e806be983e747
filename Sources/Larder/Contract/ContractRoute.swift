import HTTPTypes
import JSONValues
import Screens

/// One operation of the contract, and everything that is derived from its declaration.
struct ContractRoute {
    let sources: ContractSources
    let source: ContractSources.Source
    let path: String
    let method: String
    let declaration: JSONObject
    /// The kind of the route, as the server's text describes it.
    let kind: JSONObject
    let kindName: String

    /// - Throws: ``ContractDefect``.
    init(
        _ sources: ContractSources,
        _ source: ContractSources.Source,
        path: String,
        method: String,
        _ declaration: JSONObject
    ) throws(ContractDefect) {
        (self.sources, self.source, self.path, self.method) = (sources, source, path, method)
        self.declaration = declaration
        kindName = (declaration["kind"] ?? source.content["kind"])?.string ?? "screen"
        guard let kind = sources.shared("kinds")[kindName]?.object else {
            throw ContractDefect("\(method) \(path): there is no kind of routes \(kindName)")
        }
        self.kind = kind
    }

    var isRead: Bool { method == "get" }
    /// Whether the route forwards requests completely.
    var isForwarding: Bool { kind["mark"] == "x-larder-mount" }
    /// Whether the declaration describes neither its requests nor its refusals.
    var isBare: Bool { kindName == "controls" }

    /// Whether it takes `Idempotency-Key`.
    var takesKey: Bool { declaration["key"] == true }

    func text(_ name: String) -> String? { declaration[name]?.string }

    /// Names of its query parameters.
    var query: [String] { declaration["query"]?.strings ?? [] }

    var tag: JSONValue? {
        declaration["tag"] ?? source.content["tag"] ?? source.content["tags"]?.array?.first?["name"]
    }

    /// Alternatives of authentication.
    var security: JSONValue? {
        let session: [JSONValue] = [["bearer": []], ["cookie": []]]
        switch declaration["session"] {
        case true: return .array(session)
        case "bearer"?: return .array([session[0]])
        case "optional"?: return .array([[:]] + session)
        case "device"?: return [[:], ["device": []], ["deviceCookie": []], ["operator": []]]
        default: return nil
        }
    }

    /// The entity tag of its responses; nil if they have none.
    var etag: String? {
        let own = text("etag") ?? (isRead ? kind["etag"]?.string : nil)
        return own == "none" ? nil : own
    }

    var bodyTypes: [String] {
        guard let body = declaration["body"] else { return [] }
        return body["content"]?.object?.members.map(\.name) ?? [ContractMedia.json]
    }
}

extension RouteDeclaration {
    var operation: String { "\(method.rawValue.lowercased()) \(path)" }

    /// The members of a declaration that are derived from the route.
    var contractFacts: JSONObject {
        let app = path.split(separator: "/").dropFirst().first.map(String.init)
        return JSONObject([
            ("screen", .string(screen)), ("query", .array(input.parameters.map { .string($0) })),
            // The cookie of a session is valid for the app's own routes only.
            ("session", sessionApp.map { $0 == app ? true : "bearer" }),
            ("key", takesKey ? true : nil), ("bytes", .integer(maximumBodyBytes)),
        ])
    }
}

// MARK: Parameters

extension ContractRoute {
    /// Returns the names of the components of its parameters: of the path, the query and the header.
    ///
    /// - Throws: ``ContractDefect``.
    func parameters() throws(ContractDefect) -> [String] {
        let named = declaration["fields"]?.strings ?? []
        let own = named.filter { !$0.hasPrefix("-") }
        let inPath = path.split(separator: "/").filter { $0.hasPrefix("{") }.map { String($0.dropFirst().dropLast()) }
        var names: [String] = []
        for (place, parameters) in [("path", inPath), ("query", query)] {
            for name in parameters { names.append(try component(of: name, in: place, among: own)) }
        }
        var fields = headerFields
        for name in own.filter({ !names.contains($0) }) {
            let component = sources.component("parameters", name)
            guard component?["in"] == "header", let field = component?["name"]?.string else {
                throw ContractDefect("\(method) \(path): \(name) is no parameter of it")
            }
            fields.removeAll { $0.field == field }
            fields.append((field, name))
        }
        let removed = named.filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) }
        return names + fields.filter { !removed.contains($0.field) }.map(\.component)
    }

    /// The header fields that a route of its kind accepts, and the components that describe them.
    private var headerFields: [(field: String, component: String)] {
        guard !isBare else { return [] }
        var fields: [(String, String)] = []
        if path.hasPrefix("/v1"), !isForwarding, kindName != "stream" {
            fields.append(("Accept-Language", "AcceptLanguage"))
        }
        if isRead, query.contains("refresh") { fields.append(("Cache-Control", "RequestCacheControl")) }
        if query.contains("profile") { fields.append(("Larder-Profile", "LarderProfile")) }
        if isRead, etag != nil || isForwarding { fields.append(("If-None-Match", "IfNoneMatch")) }
        if takesKey { fields.append(("Idempotency-Key", "IdempotencyKey")) }
        if !isRead, !isForwarding {
            fields += [("If-Match", "WriteIfMatch"), ("If-None-Match", "WriteIfNoneMatch")]
        }
        return fields + [("X-Request-Id", "RequestId")]
    }

    /// Returns the component of a parameter: the one that the route names, else the first in its text, else the first
    /// in the server's text.
    private func component(of name: String, in place: String, among own: [String]) throws(ContractDefect) -> String {
        let fits = { (value: JSONValue?) in value?["name"]?.string == name && value?["in"]?.string == place }
        if let named = own.first(where: { fits(sources.component("parameters", $0).map(JSONValue.object)) }) {
            return named
        }
        for source in [source, sources.all[0]] {
            if let found = source.section("parameters").first(where: { fits($0.value) }) { return found.name }
        }
        throw ContractDefect("\(method) \(path): the parameter \(name) is not described")
    }
}

// MARK: Problems

extension ContractRoute {
    /// Returns the codes of the problems that it can respond with.
    ///
    /// - Parameter parameters: The components of its parameters.
    func problems(_ parameters: [String]) -> Set<String> {
        guard !isBare else { return [] }
        var codes: Set = [
            "malformed-request", "invalid-parameter", "host-not-allowed", "request-timeout", "target-too-long",
            "headers-too-large",
        ]
        if !isForwarding {
            codes.formUnion(ofBody)
            if !isRead { codes.insert("origin-not-allowed") }
            let fields = parameters.compactMap { name in
                sources.component("parameters", name).flatMap { $0["in"] == "header" ? $0["name"]?.string : nil }
            }
            if fields.contains("Range") { codes.insert("bad-range") }
            if fields.contains("Prefer") { codes.formUnion(["outbox-full", "offline-write-refused"]) }
            if takesKey { codes.formUnion(["idempotency-key-in-use", "idempotency-key-reused"]) }
            if !isRead, fields.contains("If-Match") { codes.insert("precondition-failed") }
        }
        if declaration["session"] != nil, declaration["session"] != "device" {
            codes.formUnion(["session-required", "session-expired"])
        }
        if path.contains("{") { codes.insert("not-found") }
        if query.contains("refresh") { codes.insert("not-in-cache") }
        if source.isOfApp {
            codes.formUnion(["misdirected-request"] + group("store"))
            if !isRead { codes.insert("outcome-unknown") }
        }
        for name in (kind["problems"]?.strings ?? []) + (declaration["problems"]?.strings ?? []) {
            apply(name, to: &codes)
        }
        return codes
    }

    private var ofBody: [String] {
        guard !bodyTypes.isEmpty else { return [] }
        let ofJSON = ["malformed-json", "unsupported-media-type", "validation-failed"]
        return ["too-large"] + (bodyTypes.contains(ContractMedia.json) ? ofJSON : [])
    }

    private func group(_ name: String) -> [String] { sources.shared("groups")[name]?.strings ?? [] }

    /// Adds a code, or the codes of a group; removes them if the name begins with a minus.
    private func apply(_ name: String, to codes: inout Set<String>) {
        let plain = name.hasPrefix("-") ? String(name.dropFirst()) : name
        let named = group(plain).isEmpty ? [plain] : group(plain)
        if name.hasPrefix("-") { codes.subtract(named) } else { codes.formUnion(named) }
    }
}

// MARK: Header fields

extension ContractRoute {
    /// Returns the header fields of a response: those of its kind, those of a response from the cache, and its own.
    func headers(of response: JSONObject, _ status: String) -> JSONObject {
        var headers = headers
        if status == "202" {
            headers["ETag"] = nil
            if declaration["fields"]?.strings.contains(where: { $0.hasSuffix("Prefer") }) == true {
                headers["Preference-Applied"] = "PreferenceApplied"
            }
        }
        for member in response["headers"]?.object?.members ?? [] { headers[member.name] = member.value }
        return headers
    }

    private var headers: JSONObject {
        var headers = kind["headers"]?.object ?? JSONObject()
        let vary = declaration["vary"] ?? (kindName == "screen" ? source.content["vary"] : nil)
        if let vary { headers["Vary"] = vary }
        if isRead, query.contains("refresh") {
            headers["Cache-Status"] = "CacheStatus"
            headers["Age"] = headers["Age"] ?? "Age"
        } else {
            headers["Age"] = isForwarding ? headers["Age"] : nil
        }
        if takesKey { headers["Idempotency-Replayed"] = "IdempotencyReplayed" }
        if let etag { headers["ETag"] = .string(etag) }
        return headers
    }

    /// Whether it responds with 304 to clients that have the current body.
    var isRevalidated: Bool { isRead && etag != nil }

    /// Fields that a 304 does not have.
    static let onlyOfContent: Set = [
        "Content-Encoding", "Content-Language", "Content-Range", "Set-Cookie", "Clear-Site-Data",
    ]
}
