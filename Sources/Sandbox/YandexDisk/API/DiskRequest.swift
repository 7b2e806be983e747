import Foundation
import HTTPTypes
import JSONValues

/// A request to the API with its parameters, all of which are checked alike.
struct DiskRequest {
    /// The whole path may also begin with `v1/disk`, for clients whose base URL is only the host's.
    static let versionedPrefix = ["v1", "disk"]

    let method: HTTPRequest.Method
    let path: [String]
    let parameters: [String: String]
    let body: [UInt8]
    /// The sandbox's own origin.
    let origin: String
    /// The prefix of links to the API.
    let base: String
    let now: Date

    init(_ request: UpstreamRequest, now: Date) {
        let isVersioned = request.path.starts(with: Self.versionedPrefix)
        method = request.method == .head ? .get : request.method
        path = isVersioned ? Array(request.path.dropFirst(2)) : request.path
        // Of a parameter that is given twice, the first value counts.
        parameters = request.form.values
        body = request.body
        origin = request.origin
        base = "\(request.origin)/yandex_disk" + (isVersioned ? "/v1/disk" : "")
        self.now = now
    }

    /// The paths that it names, as texts.
    var pathTexts: [String] { ["path", "from"].compactMap { parameters[$0] } }

    var fields: FieldSelection { FieldSelection(parameters["fields"]) }

    /// JSON of the API, reduced to `fields`.
    func json(_ status: HTTPResponse.Status, _ value: JSONValue) -> UpstreamResponse {
        .json(status, fields.applied(to: value))
    }

    /// A Link to a resource of the API.
    func link(_ status: HTTPResponse.Status, to path: DiskPath) -> UpstreamResponse {
        let place = path.area == .trash ? "trash/resources" : "resources"
        return link(status, href: "\(base)/\(place)?\(FormEncoding.query(["path": path.description]))")
    }

    func link(_ status: HTTPResponse.Status, href: String, method: String = "GET", operation: String? = nil)
        -> UpstreamResponse
    {
        let link: JSONObject = [
            "operation_id": operation.map { .string($0) }, "href": .string(href), "method": .string(method),
            "templated": false,
        ]
        return json(status, .object(link))
    }

    /// 204 without a body, but with the type of one, as recorded.
    static let noContent = UpstreamResponse(
        status: .noContent,
        headers: [.contentType: "application/json; charset=utf-8"]
    )

    // MARK: parameters

    func text(_ name: String) throws(DiskFailure) -> String {
        guard let value = parameters[name], !value.isEmpty else {
            throw .invalid(name, ("this field is required.", "это поле является обязательным."))
        }
        return value
    }

    func path(_ name: String, in area: DiskPath.Area = .disk) throws(DiskFailure) -> DiskPath {
        try DiskPath(try text(name), in: area)
    }

    func flag(_ name: String) throws(DiskFailure) -> Bool {
        switch parameters[name]?.lowercased() {
        case nil, "", "false", "0": return false
        case "true", "1": return true
        default: throw .invalid(name, ("not a boolean.", "значение не является логическим."))
        }
    }

    func integer(_ name: String, default fallback: Int) throws(DiskFailure) -> Int {
        guard let text = parameters[name] else { return fallback }
        guard let value = Int(text) else { throw .invalid(name, ("not a number.", "значение не является числом.")) }
        guard (0...1_000_000_000).contains(value) else {
            throw .invalid(name, ("must not be negative or this large.", "недопустимое значение."))
        }
        return value
    }

    func paging() throws(DiskFailure) -> (limit: Int, offset: Int) {
        (try integer("limit", default: 20), try integer("offset", default: 0))
    }

    func order() throws(DiskFailure) -> (text: String, order: DiskOrder?) {
        guard let text = parameters["sort"], !text.isEmpty else { return ("", nil) }
        guard let order = DiskOrder(text) else {
            throw .invalid("sort", ("unknown sort key.", "неизвестный ключ сортировки."))
        }
        return (text, order)
    }

    func mediaTypes() throws(DiskFailure) -> [String] {
        let types = (parameters["media_type"] ?? "").split(separator: ",").map { String($0).trimmed }
        for type in types where !DiskFileType.mediaTypes.contains(type) {
            throw .invalid("media_type", ("unknown media type \"\(type)\".", "неизвестный тип \"\(type)\"."))
        }
        return types
    }

    func rendering(_ links: DiskLinks, shared: DiskNode? = nil) throws(DiskFailure) -> ResourceRendering {
        var rendering = ResourceRendering(origin: origin, links: links, now: now, shared: shared)
        if let size = parameters["preview_size"], !size.isEmpty {
            guard DiskPreview.Size(size) != nil else {
                throw .invalid("preview_size", ("unknown size.", "неизвестный размер."))
            }
            rendering.previewSize = size
        }
        rendering.previewCrop = try flag("preview_crop")
        return rendering
    }

    /// The body as a JSON object; an empty one has no members.
    func object() throws(DiskFailure) -> JSONObject {
        guard !body.isEmpty else { return JSONObject() }
        guard let object = JSONValue(json: body)?.object else {
            throw .invalid("body", ("not a JSON object.", "не является объектом JSON."))
        }
        return object
    }
}

/// The `fields` parameter: a comma-separated list of members, with dots into nested ones. It filters any response.
struct FieldSelection: Sendable, Equatable {
    /// nil selects everything.
    private var members: [String: FieldSelection]?

    static let all = FieldSelection(members: nil)

    private init(members: [String: FieldSelection]?) { self.members = members }

    init(_ text: String?) {
        self = .all
        let paths = (text ?? "").split(separator: ",").map { $0.split(separator: ".").map { String($0).trimmed } }
            .filter { !$0.isEmpty }
        guard !paths.isEmpty else { return }
        members = [:]
        for path in paths { insert(path[...]) }
    }

    private mutating func insert(_ path: ArraySlice<String>) {
        guard members != nil else { return }
        guard let first = path.first else {
            members = nil
            return
        }
        let isNew = members?[first] == nil
        var below = members?[first] ?? FieldSelection(members: [:])
        // `a,a.b` selects the common part: with one of the recorded clients, `_embedded,_embedded.total` means `total`.
        if path.count > 1 {
            if below.members == nil { below.members = [:] }
            below.insert(path.dropFirst())
        } else if isNew {
            below = .all
        }
        members?[first] = below
    }

    func contains(_ name: String) -> Bool { members.map { $0[name] != nil } ?? true }

    /// The selection below a member.
    func below(_ name: String) -> FieldSelection { members.map { $0[name] ?? FieldSelection(members: [:]) } ?? .all }

    func applied(to value: JSONValue) -> JSONValue {
        guard members != nil else { return value }
        switch value {
        case .object(let object):
            let chosen = object.members.filter { contains($0.name) }
            return .object(JSONObject(chosen.map { ($0.name, below($0.name).applied(to: $0.value)) }))
        case .array(let values): return .array(values.map(applied))
        default: return value
        }
    }
}
