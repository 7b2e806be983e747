import Crypto
package import Foundation
package import HTTP
import HTTPTypes
import Hummingbird
import NIOCore
import Server

/// The parts of a screen that are the same in all of its responses. With them a front end draws any screen without a
/// text of its own (docs/contract.md, "Drawing a screen").
package struct ScreenForm: Sendable {
    /// Name of the screen, `app.screen`.
    package let screen: String
    let title: Text
    private let tab: Link?
    fileprivate let search: Link?
    fileprivate let labels: [Label]

    /// Describes a screen.
    ///
    /// - Parameters:
    ///   - title: Its title; that of one thing is the name of the thing (``TitledScreen``).
    ///   - tab: Its address, if it is one of the main screens of the app.
    ///   - search: The screen that searches the rows of this one by `q`.
    ///   - labels: The members that people see, of the content and of its rows, in their order.
    package init(_ screen: String, _ title: Text, tab: Link? = nil, search: Link? = nil, _ labels: [Label] = []) {
        (self.screen, self.title, self.tab, self.search, self.labels) = (screen, title, tab, search, labels)
    }

    /// A member that people see.
    package struct Label: Encodable, Sendable {
        package enum Kind: String, Encodable, Sendable {
            /// The name of the thing, which heads the others.
            case name
            /// A text or number; an object or rows with such members; a state that is shown by its title if it is true.
            case text
            /// The address of a picture, or several.
            case picture
            /// The address of a file or a page.
            case link
        }

        let member: String
        let kind: Kind
        /// Null for a value that is clear without one.
        @Nullable var title: Text?

        package init(_ member: String, _ title: Text? = nil, _ kind: Kind = .text) {
            (self.member, self.kind, _title) = (member, kind, Nullable(wrappedValue: title))
        }

        package static func name(_ member: String) -> Label { Label(member, nil, .name) }
        package static func picture(_ member: String) -> Label { Label(member, nil, .picture) }
    }

    /// A main screen of an app, as its other main screens name it.
    struct Tab: Encodable, Sendable, Equatable {
        let screen: String
        let title: Text
        let href: Link
    }

    fileprivate var asTab: Tab? { tab.map { Tab(screen: screen, title: title, href: $0) } }
}

/// The content of a screen of one thing, which has the name of the thing as title.
package protocol TitledScreen {
    /// Nil for the title of the screen.
    var screenTitle: Text? { get }
}

/// The forms of all screens that a server has.
package struct ScreenForms: Sendable {
    /// Those of the server that makes the response.
    @TaskLocal static var current = ScreenForms()

    private var forms: [String: ScreenForm] = [:]
    /// The tabs of the app of each screen that is one itself.
    private var tabs: [String: [ScreenForm.Tab]] = [:]
    /// Titles of the apps by their names, for screens without a form.
    private var titles: [String: Text] = [:]

    package init() { add(Self.ofServer) }

    /// Adds the screens of an app.
    package mutating func add(_ app: (some App).Type) {
        titles[app.name] = app.title
        add(app.screens)
    }

    private mutating func add(_ more: [ScreenForm]) {
        let tabs = more.compactMap(\.asTab)
        for form in more { forms[form.screen] = form }
        for tab in tabs { self.tabs[tab.screen] = tabs }
    }

    /// The title of a screen; nil if it has no form.
    package func title(of screen: String) -> Text? { forms[screen]?.title }

    func complete<Content>(_ envelope: inout Envelope<Content>) {
        let screen = envelope.meta.screen
        let own = (envelope.data as? any TitledScreen)?.screenTitle
        let ofApp = titles[String(screen.prefix { $0 != "." })]
        envelope.meta.title = own ?? title(of: screen) ?? ofApp ?? Text(verbatim: screen)
        envelope.meta.labels = forms[screen]?.labels ?? []
        envelope.links.tabs = tabs[screen]
        envelope.links.search = forms[screen]?.search.map(Action.search)
    }

    private static let ofServer = [
        ScreenForm("index", "Larder", [.name("title")]),
        ScreenForm("status", .serverStatus, [.name("title")]),
        ScreenForm(
            "usage",
            .storage,
            [.name("title"), ScreenForm.Label("used_text", .used), ScreenForm.Label("quota_text", .quota)]
        ),
        ScreenForm("devices", .devices, [.name("name"), ScreenForm.Label("profile", .profile)]),
    ]
}

extension Action {
    /// Requests the rows that a text finds; its field is a parameter of the query.
    fileprivate static func search(_ href: Link) -> Action {
        Action(id: "search", title: .search, method: "GET", href: href, fields: [Field("q", .text, .search)])
    }
}

/// Adapts a response to its request: ETag and 304, gzip, HEAD. The same for every route.
enum ScreenResponseRenderer {
    /// Bodies below this many bytes are not worth compressing.
    static let smallestCompressed = 512

    static func render(_ response: ScreenResponse, for request: HTTPRequest) throws -> Response {
        var fields = response.headerFields
        fields[.contentTypeOptions] = "nosniff"
        if fields[.cacheControl] == nil { fields[.cacheControl] = "no-store" }
        switch response.body {
        case .none:
            return bodiless(response.status, fields)
        case .stream(let type, let body):
            fields[.contentType] = type
            if request.method == .head {
                // RFC 9110 §8.6: the length of the response to GET, if it has one.
                var response = Response(status: response.status, headers: fields)
                response.headers[.contentLength] = body.contentLength.map { String($0) }
                return response
            }
            return Response(status: response.status, headers: fields, body: body)
        case .bytes(let bytes, let type):
            return try represent(type, bytes.count, of: response, fields, for: request) { isCompressed in
                EntityTag.strong(for: bytes, version: response.version, variant: isCompressed ? "gzip" : nil)
            } body: { isCompressed in
                ByteBuffer(bytes: isCompressed ? try Gzip.compress(bytes) : bytes)
            }
        case .prepared(let prepared):
            return try represent(
                prepared.type,
                prepared.body.readableBytes,
                of: response,
                fields,
                for: request,
                tag: prepared.entityTag
            ) { isCompressed in
                isCompressed ? try prepared.compressedBody() ?? prepared.body : prepared.body
            }
        }
    }

    /// Whether a body is worth compressing.
    static func isCompressible(_ count: Int, _ type: String) -> Bool {
        count >= smallestCompressed && MediaType.isCompressible(type)
    }

    /// Returns a response with a body in an encoding that the request accepts.
    ///
    /// - Parameters:
    ///   - count: Bytes of the uncompressed body.
    ///   - tag: Returns the entity tag of the body, compressed or not.
    ///   - body: Returns the body, compressed or not.
    private static func represent(
        _ type: String,
        _ count: Int,
        of response: ScreenResponse,
        _ fields: HTTPFields,
        for request: HTTPRequest,
        tag: (_ isCompressed: Bool) -> String,
        body: (_ isCompressed: Bool) throws -> ByteBuffer
    ) throws -> Response {
        var fields = fields
        fields[.contentType] = type
        let isCompressible = isCompressible(count, type)
        if isCompressible { fields.vary(on: .acceptEncoding) }
        let isCompressed = isCompressible && AcceptedEncodings.allowGzip(request.headerFields[values: .acceptEncoding])
        let status = response.status
        // The response to a write is not a representation of its target, so it has no validator (RFC 9110 §8.8).
        if response.hasValidator, status == .ok, request.method == .get || request.method == .head {
            let entityTag = tag(isCompressed)
            fields[.eTag] = entityTag
            if EntityTag.matches(request.headerFields[values: .ifNoneMatch], entityTag) { return notModified(fields) }
        }
        let content = try body(isCompressed)
        if isCompressed { fields[.contentEncoding] = "gzip" }
        fields[.contentLength] = String(content.readableBytes)
        return Response(
            status: status,
            headers: fields,
            body: request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: content)
        )
    }

    /// Returns a 304 with the fields that the 200 would have, except those of its body (RFC 9110 §15.4.5).
    private static func notModified(_ fields: HTTPFields) -> Response {
        var fields = fields
        fields[.contentType] = nil
        fields[.contentLanguage] = nil
        return bodiless(.notModified, fields)
    }

    /// Returns a response without a body. 204 and 304 do not have a length of 0 either (RFC 9110 §8.6).
    private static func bodiless(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Response {
        var response = Response(status: status, headers: fields)
        if status == .noContent || status == .notModified { response.headers[.contentLength] = nil }
        return response
    }
}

// Entity tags of responses that Larder makes itself. Lists of tags are read and compared in HTTPSemantics only.
extension EntityTag {
    /// Creates a strong tag of these bytes.
    ///
    /// - Parameters:
    ///   - version: version of the content, without `.` and `"`. It is first, so that `If-Match` names it whatever the
    ///     encoding in which a client got it.
    ///   - variant: tells encodings of the same content apart (RFC 9110 §8.8.3.3).
    package static func strong(for bytes: Data, version: String? = nil, variant: String? = nil) -> String {
        let digest = Data(SHA256.hash(data: bytes).prefix(15)).base64EncodedString()
        return "\"\(version.map { "\($0)." } ?? "")\(digest)\(variant.map { "-\($0)" } ?? "")\""
    }

    /// The version that a tag of ``strong(for:version:variant:)`` names; of another tag all that is between its
    /// quotation marks.
    ///
    /// Nil if the tag has no quotation marks (RFC 9110 §8.8.3).
    package var version: String? {
        guard opaque.utf8.count >= 2, opaque.hasPrefix("\""), opaque.hasSuffix("\"") else { return nil }
        return String(opaque.dropFirst().dropLast().prefix { $0 != "." })
    }

    /// Whether an `If-None-Match` names this tag, compared weakly; `*` names every tag (RFC 9110 §13.1.2).
    package static func matches(_ ifNoneMatch: [String], _ tag: String) -> Bool {
        guard let tag = EntityTag(tag), let condition = EntityTagCondition(lines: ifNoneMatch) else { return false }
        return condition.matchesWeakly(tag)
    }
}
