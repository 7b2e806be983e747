// The responses of Larder, and the requests for them, with Foundation only.
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A value of JSON, for the members that differ from screen to screen.
enum Value: Codable, Equatable {
    case null
    case flag(Bool)
    case number(Double)
    case text(String)
    case list([Value])
    case object([String: Value])

    init(from decoder: any Decoder) throws {
        let one = try decoder.singleValueContainer()
        self =
            (try? one.decode(Bool.self)).map(Value.flag) ?? (try? one.decode(Double.self)).map(Value.number)
            ?? (try? one.decode(String.self)).map(Value.text) ?? (try? one.decode([Value].self)).map(Value.list)
            ?? (try? one.decode([String: Value].self)).map(Value.object) ?? .null
    }

    func encode(to encoder: any Encoder) throws {
        var one = encoder.singleValueContainer()
        switch self {
        case .null: try one.encodeNil()
        case .flag(let flag): try one.encode(flag)
        case .number(let number): try one.encode(number)
        case .text(let text): try one.encode(text)
        case .list(let list): try one.encode(list)
        case .object(let members): try one.encode(members)
        }
    }

    subscript(name: String) -> Value { members[name] ?? .null }
    var members: [String: Value] { if case .object(let members) = self { members } else { [:] } }
    var list: [Value] { if case .list(let list) = self { list } else { [] } }
    var text: String? { if case .text(let text) = self { text } else { nil } }

    func decoded<Part: Decodable>(as part: Part.Type = Part.self) -> Part? {
        (try? JSONEncoder().encode(self)).flatMap { decode(part, from: $0) }
    }
}

func decode<Part: Decodable>(_: Part.Type, from json: Data) -> Part? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try? decoder.decode(Part.self, from: json)
}

/// A screen or a problem.
struct Screen: Decodable {
    struct Meta: Decodable { let title: String, labels: [Label], banner: Banner?, freshnessText: String? }
    struct Banner: Decodable { let text: String }
    struct Links: Decodable { let `self`: String, next: String?, tabs: [Tab]?, search: Action? }
    struct Tab: Decodable { let title: String, href: String }
    struct Dialog: Decodable { let title: String, message: String, buttons: [String] }
    struct FieldError: Decodable { let detail: String }
    let data: Value?, meta: Meta?, links: Links?, dialog: Dialog?, errors: [FieldError]?, actions: [Action]?
}

struct Label: Decodable { let member: String, kind: String, title: String? }

struct Action: Decodable {
    struct Field: Decodable {
        let name: String, kind: String, title: String, value: String?, values: [String]?, required: Bool

        /// Returns the member of the body for a text that was typed.
        func value(of text: String) -> Value {
            switch kind {
            case "integer", "number": Double(text).map(Value.number) ?? .text(text)
            case "boolean": .flag(text == "1")
            case "pages", "items":
                .list(text.split(separator: ",").map { .text($0.trimmingCharacters(in: .whitespaces)) })
            default: .text(text)
            }
        }
    }
    struct Confirmation: Decodable { let message: String, buttons: [String] }

    let title: String, method: String, href: String, enabled: Bool, disabledReason: String?
    let body: [String: Value]?, fields: [Field]?, headers: [String: String]?, confirm: Confirmation?

    /// Returns the address of a GET with fields, which are parameters of its query.
    func target(with values: [String: Value]) -> String {
        guard var address = URLComponents(string: href), !values.isEmpty else { return href }
        let query = values.compactMap { name, value in value.text.map { URLQueryItem(name: name, value: $0) } }
        address.queryItems = (address.queryItems ?? []) + query
        return address.string ?? href
    }
}

/// The server, and the session of one app.
@MainActor final class Larder {
    let base: String, language: String
    private var token: String?, stream: URLSession?
    init(_ base: String, language: String) { (self.base, self.language) = (base, language) }

    private func request(_ method: String, _ href: String) throws -> URLRequest {
        guard let url = URL(string: base + href) else { throw URLError(.badURL) }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.setValue(language, forHTTPHeaderField: "Accept-Language")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    /// Returns the screen, or the length of what is none. The token of a session that it opens is used from then on.
    func send(_ method: String, _ href: String, _ body: [String: Value] = [:], _ headers: [String: String] = [:])
        async throws -> (Screen?, length: Int)
    {
        var request = try request(method, href)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if !body.isEmpty {
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            request.httpBody = try JSONEncoder().encode(body)
        }
        let (content, _) = try await URLSession.shared.data(for: request)
        let screen = decode(Screen.self, from: content)
        token = screen?.data?["token"].text ?? token
        return (screen, content.count)
    }

    /// Returns the addresses of the screens of an app that need no parameter in the path.
    func screens(of app: String) async throws -> [String] {
        let apps = try await send("GET", "/v1").0?.data?["apps"].list.filter { $0["app"].text == app } ?? []
        let screens = apps.flatMap { $0["screens"].list }
            .filter { $0["method"].text == "GET" && $0["title"] != .null }
        return screens.compactMap { $0["href"].text }.filter { !$0.contains("{") }
    }

    /// Hears the events of an app with the present session (HTML Living Standard §9.2).
    func listen(to app: String, _ heard: @escaping @Sendable () -> Void) throws {
        stream?.invalidateAndCancel()
        let session = URLSession(configuration: .default, delegate: Events(heard), delegateQueue: nil)
        session.dataTask(with: try request("GET", "/v1/events?app=\(app)")).resume()
        stream = session
    }
}

private final class Events: NSObject, URLSessionDataDelegate {
    private let heard: @Sendable () -> Void
    init(_ heard: @escaping @Sendable () -> Void) { self.heard = heard }
    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
        if lines.contains(where: { $0.hasPrefix("event:") }) { heard() }
    }
}
