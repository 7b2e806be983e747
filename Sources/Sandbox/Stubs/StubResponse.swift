import Foundation
import HTTPTypes
import JSONValues

/// The response of a rule in place of the upstream's: `{"status":200,"header":{…},"json":…}`, or `text` or `base64` in
/// place of `json`. Its texts may contain parts of the request: `{{query.city}}`.
struct StubResponse: Sendable, Equatable {
    enum Body: Sendable, Equatable {
        case none
        case json(JSONValue)
        case text(String)
        case bytes([UInt8])
    }

    var status = 200
    var header: [Fixture.Field] = []
    var body = Body.none
    /// Whether `{{…}}` is replaced.
    var isTemplate = true

    /// Largest number of bytes that may replace the placeholders.
    static let largest = 16 << 20

    /// Returns the response to a request.
    ///
    /// - Parameter count: Number of requests that got this response, this request included.
    func response(to request: UpstreamRequest, count: Int, at now: Date) -> UpstreamResponse {
        let source = StubTemplate.Source(request: request, count: count, now: now)
        let filled = { (text: String) in isTemplate ? StubTemplate.filled(text, source) : text }
        var response = UpstreamResponse(status: .init(code: status))
        switch body {
        case .none: break
        case .json(let value):
            response.headers[.contentType] = "application/json"
            response.body = (isTemplate ? StubTemplate.filled(value, source) : value).serialized()
        case .text(let text):
            response.headers[.contentType] = "text/plain; charset=utf-8"
            response.body = Array(filled(text).utf8)
        case .bytes(let bytes):
            response.headers[.contentType] = "application/octet-stream"
            response.body = bytes
        }
        var given: Set<HTTPField.Name> = []
        for field in header {
            guard let name = HTTPField.Name(field.name) else { continue }
            if given.insert(name).inserted { response.headers[name] = nil }
            response.headers.append(HTTPField(name: name, value: filled(field.value)))
        }
        guard source.left >= 0 else {
            let detail = "The response of the rule has more than \(Self.largest) bytes of its request."
            return .text(.internalServerError, detail)
        }
        return response
    }
}

extension StubResponse {
    /// Reads the member `respond` of a rule.
    init(_ value: JSONValue) throws(ControlProblem) {
        let fields = try ControlFields(value)
        try fields.require(only: "status", "header", "json", "text", "base64", "template")
        status = try fields.integer("status", in: 200...599) ?? 200
        isTemplate = try fields.flag("template") ?? true
        for member in try fields["header"].map({ (value) throws(ControlProblem) in try ControlFields(value).members })
            ?? []
        {
            guard HTTPField.Name(member.name) != nil, let text = member.value.string else {
                throw .invalid(field: "respond.header", value: member.name, accepted: ["a name and a string"])
            }
            header.append(.init(name: member.name, value: text))
        }
        body = try Self.body(fields)
        if isTemplate { try StubTemplate.check(self) }
    }

    private static func body(_ fields: ControlFields) throws(ControlProblem) -> Body {
        let given = ["json", "text", "base64"].filter { fields[$0] != nil }
        guard given.count < 2 else {
            throw .invalid(
                field: "respond",
                value: given.joined(separator: ", "),
                accepted: ["one of json, text, base64"]
            )
        }
        if let value = fields["json"] { return .json(value) }
        if let text = try fields.text("text") { return .text(text) }
        guard let text = try fields.text("base64") else { return .none }
        guard let data = Data(base64Encoded: text) else {
            throw .invalid(field: "respond.base64", value: String(text.prefix(60)), accepted: ["Base64 (RFC 4648)"])
        }
        return .bytes(Array(data))
    }

    var json: JSONValue {
        let fields = JSONObject(header.map { ($0.name, .string($0.value)) })
        var object: JSONObject = ["status": .integer(status), "header": header.isEmpty ? nil : .object(fields)]
        switch body {
        case .none: break
        case .json(let value): object["json"] = value
        case .text(let text): object["text"] = .string(text)
        case .bytes(let bytes): object["base64"] = .string(Data(bytes).base64EncodedString())
        }
        object["template"] = isTemplate ? nil : false
        return .object(object)
    }
}

/// `{{name}}` in the texts of a stub, as in scenarios. The names are those of the parts of the request.
enum StubTemplate {
    /// The request of one response. Its body is read and parsed once.
    final class Source {
        let request: UpstreamRequest
        let count: Int
        let now: Date
        /// Bytes that may still replace placeholders; below 0 if there were too many.
        private(set) var left = StubResponse.largest
        private lazy var bytes = request.start(SandboxResponder.maximumBody)
        lazy var text = String(decoding: bytes, as: UTF8.self)
        lazy var json = JSONValue(json: bytes)

        init(request: UpstreamRequest, count: Int, now: Date) {
            (self.request, self.count, self.now) = (request, count, now)
        }

        /// Returns a value unless the limit of bytes is exceeded; nil from then on.
        func counted(_ value: JSONValue?) -> JSONValue? {
            guard let value else { return nil }
            left -= value.string?.utf8.count ?? value.serialized().count
            return left < 0 ? nil : value
        }
    }

    static let accepted = [
        "{{method}}", "{{path}}", "{{path.0}} (the first segment)", "{{query.NAME}}", "{{header.NAME}}", "{{body}}",
        "{{body/POINTER}}", "{{count}}", "{{now}}",
    ]

    /// Returns a text with its placeholders replaced. A part that the request does not have is replaced by nothing.
    static func filled(_ text: String, _ source: Source) -> String {
        pieces(of: text).map { piece in
            guard piece.isPlaceholder else { return piece.text }
            let value = counted(piece.text, source)
            return value?.string ?? value?.json ?? ""
        }.joined()
    }

    /// Returns a value with the placeholders of all its texts replaced. A text that is one placeholder becomes the
    /// value itself.
    static func filled(_ value: JSONValue, _ source: Source) -> JSONValue {
        switch value {
        case .null, .bool, .number: return value
        case .string(let text):
            let pieces = pieces(of: text)
            guard pieces.count == 1, pieces[0].isPlaceholder else { return .string(filled(text, source)) }
            return counted(pieces[0].text, source) ?? .null
        case .array(let values): return .array(values.map { filled($0, source) })
        case .object(var object):
            for index in object.members.indices {
                object.members[index].value = filled(object.members[index].value, source)
            }
            return .object(object)
        }
    }

    /// - Throws: 400 if the name of a placeholder is unknown.
    static func check(_ response: StubResponse) throws(ControlProblem) {
        var texts = response.header.map(\.value)
        if case .text(let text) = response.body { texts.append(text) }
        if case .json(let value) = response.body {
            _ = value.mapStrings {
                texts.append($0)
                return $0
            }
        }
        for piece in texts.flatMap(pieces) where piece.isPlaceholder && !isName(piece.text) {
            throw .invalid(field: "respond", value: "{{\(piece.text)}}", accepted: accepted + [#"or "template":false"#])
        }
    }

    private static func pieces(of text: String) -> [(text: String, isPlaceholder: Bool)] {
        var pieces: [(String, Bool)] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{"), let close = rest[open.upperBound...].firstRange(of: "}}") {
            if open.lowerBound > rest.startIndex { pieces.append((String(rest[..<open.lowerBound]), false)) }
            pieces.append((rest[open.upperBound..<close.lowerBound].trimmed, true))
            rest = rest[close.upperBound...]
        }
        if !rest.isEmpty { pieces.append((String(rest), false)) }
        return pieces
    }

    private static func isName(_ name: String) -> Bool {
        if ["method", "path", "body", "count", "now"].contains(name) || name.hasPrefix("body/") { return true }
        if name.hasPrefix("path.") { return JSONPointer.index(String(name.dropFirst(5))) != nil }
        return ["query.", "header."].contains { name.hasPrefix($0) && name.count > $0.count }
    }

    /// Returns the value of a placeholder; nil if there is none, or if the limit of bytes is exceeded.
    private static func counted(_ name: String, _ source: Source) -> JSONValue? {
        source.left < 0 ? nil : source.counted(value(of: name, source))
    }

    private static func value(of name: String, _ source: Source) -> JSONValue? {
        let request = source.request
        switch name {
        case "method": return .string(request.method.rawValue)
        case "path": return .string("/" + request.path.joined(separator: "/"))
        case "count": return .integer(source.count)
        case "now": return .string(source.now.formatted(ControlFields.timeForm))
        case "body": return .string(source.text)
        default: break
        }
        if let pointer = JSONPointer(String(name.dropFirst(4))), name.hasPrefix("body/") {
            return source.json?.value(at: pointer.tokens)
        }
        let part = name.prefix { $0 != "." }
        let key = String(name.dropFirst(part.count + 1))
        switch part {
        case "path":
            let index = Int(key) ?? 0
            return request.path.indices.contains(index) ? .string(request.path[index]) : nil
        case "query": return request.form.first { $0.name == key }.map { .string($0.value) }
        default: return HTTPField.Name(key).flatMap { request.headers[$0] }.map { .string($0) }
        }
    }
}
