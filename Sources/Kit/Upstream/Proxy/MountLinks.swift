import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Storage

/// Rewrites the links in an upstream's JSON to addresses of its mount, so that a client that follows them stays behind
/// its cache.
///
/// A link into the API gets the path that it has below the mount, and one to another host of the upstream `~HOST/…`. A
/// link to the API's origin beside its base, or to another port of a listed host, has a proof, `~PROOF=HOST/…`. Without
/// a proof, clients can name the listed hosts at their usual port only. Links may open files to everyone who has them:
/// JSON is stored sealed, and the target of a link under a hash of the link.
struct MountLinks: Sendable {
    /// The beginning of targets that are links to other hosts.
    private static let mark = "/~"
    private static let origin = "https://links.invalid/"

    private let targets: TargetRules
    private let hasher: CredentialHasher
    private let secrets: SealedSecrets
    /// The largest JSON that is rewritten, in bytes.
    let largest: Int

    init(of configuration: UpstreamConfiguration, hasher: CredentialHasher, secrets: SealedSecrets) {
        targets = TargetRules(configuration)
        (self.hasher, self.secrets, largest) = (hasher, secrets, configuration.maximumResponseBytes)
    }

    /// Returns the link of a target below the mount; nil if it is a path of the API.
    ///
    /// - Throws: `UpstreamError` for a host that no link of the upstream may name.
    func link(of target: String) throws(UpstreamError) -> String? {
        guard target.hasPrefix(Self.mark), let base = targets.base else { return nil }
        var rest = target.dropFirst(Self.mark.count)
        var proof: Substring?
        if let end = rest.prefix(while: { $0 != "/" }).firstIndex(of: "=") {
            (proof, rest) = (rest[..<end], rest[rest.index(after: end)...])
        }
        let url = "\(base.scheme)://\(rest)"
        let isProven = proof.map(String.init) == self.proof(of: url)
        switch targets.target(of: url) {
        case .listedHost where isProven || proof == nil && (try? HTTPURL(url))?.hasDefaultPort == true: return url
        case .besideBase where isProven: return url
        default: throw .forbiddenTarget("a host to which no link leads")
        }
    }

    private func proof(of link: String) -> String { String(hasher.hash("link \(link)").text.prefix(32)) }

    /// Returns the key under which the target of a link is stored. A link with the entity tag of a file (`etag`) is
    /// signed again each time, in its path and by other hosts. Its query names the version. The beginning of its path
    /// is the service, which may redirect to another one with the same query.
    func key(of link: String) -> String {
        let parts = URIParts(link)
        let query = parts.query ?? ""
        guard query.split(separator: "&").contains(where: { $0.hasPrefix("etag=") }) else {
            return Self.origin + hasher.hash(link).text
        }
        // The services of one origin, as a sandbox has them, begin with a segment in place of a host.
        let length = targets.target(of: link) == .besideBase ? 2 : 1
        let service = parts.path.split(separator: "/").prefix(length).joined(separator: "/")
        return Self.origin + hasher.hash("\(service)?\(query)").text
    }

    /// Returns a link as an address of the mount; unchanged if it is none of the upstream.
    func led(_ link: String, to mount: String) -> String {
        guard let base = targets.base, let url = try? HTTPURL(link), url.scheme == base.scheme else { return link }
        let elsewhere = url.origin.dropFirst(url.scheme.count + "://".count) + url.requestTarget
        switch targets.target(of: link) {
        case .ownOrigin:
            let target = url.requestTarget.dropFirst(targets.basePath == "/" ? 0 : targets.basePath.count)
            return mount + (target.hasPrefix("/") ? "" : "/") + target
        case .listedHost where url.hasDefaultPort: return mount + Self.mark + elsewhere
        case .listedHost, .besideBase:
            return mount + Self.mark + proof(of: url.origin + url.requestTarget) + "=" + elsewhere
        case .trustedHost, .forbidden: return link
        }
    }

    func seal(_ body: Data, of key: String) throws -> Data { try secrets.seal(body, name: key) }

    /// Returns a body that was sealed; nil if the key has been replaced since.
    func open(_ body: Data, of key: String) -> Data? { try? secrets.open(body, name: key) }
}

extension MountLinks {
    private static let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    /// The key of members that clients of Yandex Disk add to a file.
    private static let ownMember = #""custom_properties""#

    /// Whether a response may have links.
    func concerns(_ fields: HTTPFields) -> Bool {
        let type = fields[.contentType].map { ParameterizedValue.essence(of: $0) } ?? ""
        return type == "application/json" || type.hasSuffix("+json")
    }

    /// Rewrites the links of a response to addresses of the mount. JSON that is the target of a link is the user's own,
    /// and is not changed.
    func lead(_ response: ProxyResponse, to request: ProxiedRequest, at mount: String) async throws -> ProxyResponse {
        var led = response
        let isJSON = !request.isLink && concerns(response.head.headerFields)
        let references = [HTTPField.Name.location, .contentLocation].filter(response.head.headerFields.contains)
        guard isJSON || !references.isEmpty else { return response }
        // It depends on the name by which the client knows this server.
        led.changeToken = nil
        guard URIParts(mount).authority?.isEmpty == false else { return led }
        let mount = PercentEncoding.encode(mount, allowed: .uri)
        for name in references {
            led.head.headerFields[name] = response.head.headerFields[name].map { reference in
                // A relative one would be resolved against this server.
                let isRelative = URIParts(reference).scheme == nil
                let absolute = isRelative ? TargetRules.resolve(location: reference, from: request.url) : nil
                return self.led(absolute ?? reference, to: mount)
            }
        }
        guard isJSON else { return led }
        let bytes: [UInt8]
        switch response.body {
        case .none:
            led.head.headerFields[.contentLength] = nil
            return led
        case .bytes(let whole): bytes = Array(whole.readableBytesView)
        case .stream(let parts, _): bytes = Array(try await parts.collect(upTo: largest).readableBytesView)
        }
        let body = rewritten(bytes, to: mount)
        led.head.headerFields[.contentLength] = String(body.count)
        if body != bytes, var tag = response.head.headerFields[.eTag].flatMap({ EntityTag($0) }) {
            tag.isWeak = true  // It is that of other bytes.
            led.head.headerFields[.eTag] = tag.text
        }
        led.body = .bytes(ByteBuffer(bytes: body))
        return led
    }

    /// Returns JSON with its links rewritten to addresses of a mount. All else stays byte for byte, also keys and
    /// members that clients of the API have added.
    func rewritten(_ json: [UInt8], to mount: String) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var rest = json[...]
        while let start = rest.firstIndex(of: Self.quote) {
            let end = Self.end(ofTextAt: start, in: rest)
            result += rest[..<start]
            let token = rest[start..<end]
            rest = rest[end...]
            guard Self.isKey(before: rest) else {
                result += token.dropFirst().starts(with: "http".utf8) ? rewrittenToken(token, to: mount) : token
                continue
            }
            result += token
            guard token.elementsEqual(Self.ownMember.utf8) else { continue }
            let endOfMember = Self.end(ofObjectIn: rest)
            result += rest[..<endOfMember]
            rest = rest[endOfMember...]
        }
        return result + rest
    }

    private func rewrittenToken(_ token: ArraySlice<UInt8>, to mount: String) -> ArraySlice<UInt8> {
        guard let link = try? JSONDecoder().decode(String.self, from: Data(token)) else { return token }
        let led = led(link, to: mount)
        // A URL has no character that JSON escapes.
        return led == link ? token : [Self.quote] + Array(led.utf8) + [Self.quote]
    }

    /// Returns the position after the closing quotation mark.
    private static func end(ofTextAt start: Int, in json: ArraySlice<UInt8>) -> Int {
        var index = start + 1
        while index < json.endIndex, json[index] != quote { index += json[index] == backslash ? 2 : 1 }
        return min(index + 1, json.endIndex)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Whether the text in front of these bytes is a key.
    private static func isKey(before rest: ArraySlice<UInt8>) -> Bool {
        rest.first { !isSpace($0) } == UInt8(ascii: ":")
    }

    /// Returns the position after the object that is the value of the key in front; the beginning if it is none.
    private static func end(ofObjectIn rest: ArraySlice<UInt8>) -> Int {
        let isBetween = { (byte: UInt8) in isSpace(byte) || byte == UInt8(ascii: ":") }
        guard var index = rest.firstIndex(where: { !isBetween($0) }), rest[index] == UInt8(ascii: "{") else {
            return rest.startIndex
        }
        var depth = 0
        while index < rest.endIndex {
            if rest[index] == quote {
                index = end(ofTextAt: index, in: rest)
                continue
            }
            if rest[index] == UInt8(ascii: "{") { depth += 1 }
            if rest[index] == UInt8(ascii: "}") { depth -= 1 }
            index += 1
            if depth == 0 { break }
        }
        return index
    }
}
