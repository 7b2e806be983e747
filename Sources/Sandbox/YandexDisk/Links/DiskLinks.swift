import Crypto
import Foundation

/// Links to content, which need no token: signed, so that they cannot be forged, and with an expiry date.
struct DiskLinks: Sendable, Codable {
    /// Set by the control API.
    struct Settings: Sendable, Equatable, Codable {
        /// Lifetime of a link to content, in seconds; the service's is four hours.
        var lifetime = 14_400
        /// Lifetime of a link for an upload, in seconds; the documentation says 30 minutes.
        var uploadLifetime = 1_800
        /// The host of links, which begin with `http://HOST:PORT`. Another name of this machine makes another origin.
        var host = "127.0.0.1"
        /// Status of an expired link: 500 and 410 were recorded, both with the same page.
        var staleStatus = 500
        /// Whether a link redirects to the content, as the documentation says.
        var redirects = false
        /// Whether previews need their owner's token, as the documentation says.
        var previewsNeedToken = false
    }

    private let keyBytes: Data
    private var key: SymmetricKey { SymmetricKey(data: keyBytes) }
    var settings = Settings()
    /// Links of an earlier epoch have expired.
    private var epoch = 0

    init(seed: UInt64) { keyBytes = Data(SHA256.hash(data: Array("larder sandbox links \(seed)".utf8))) }

    mutating func expireAll() { epoch += 1 }

    func mac(_ text: String) -> [UInt8] { Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)) }

    func origin(_ origin: String) -> String { origin.replacing("127.0.0.1", with: settings.host) }

    // MARK: content

    /// The path of a link to a file's present content.
    func contentPath(_ node: DiskNode, expires: Int) -> [String] {
        let subject = "\(node.id) \(node.content?.sha256 ?? "") \(expires) \(epoch)"
        return [String(expires, radix: 16), Data(mac("content \(subject)")).base64EncodedString()]
    }

    func contentURL(_ node: DiskNode, origin: String, uid: String, now: Date) -> String {
        let parts = contentPath(node, expires: Int(now.timeIntervalSince1970) + settings.lifetime)
        let query = FormEncoding.query([
            "uid": uid, "filename": node.displayName, "disposition": "attachment", "hash": "",
            "limit": "0", "content_type": node.type.mime ?? "application/octet-stream",
            "owner_uid": uid, "fsize": String(node.content?.size ?? 0),
            "hid": Hexadecimal.text(mac("hid \(node.content?.sha256 ?? "")").prefix(16)),
            "media_type": node.type.media, "tknv": "v3", "etag": node.content?.md5 ?? "",
        ])
        let path = [identifier(of: node), parts[0], FormEncoding.encoded(parts[1])].joined(separator: "/")
        return "\(self.origin(origin))/yandex_downloader/disk/\(path)?\(query)"
    }

    /// Whether the path of a link is valid: made by this service, for the present content of the file, and not expired.
    func holds(_ path: [String], for node: DiskNode, now: Date) -> Bool {
        guard path.count == 2, let expires = Int(path[0], radix: 16), Int(now.timeIntervalSince1970) <= expires else {
            return false
        }
        return path == contentPath(node, expires: expires)
    }

    // MARK: previews

    private func previewSignature(_ node: DiskNode) -> String {
        Data(mac("preview \(node.id) \(node.content?.sha256 ?? "")")).base64EncodedString()
    }

    func previewURL(_ node: DiskNode, origin: String, uid: String) -> String {
        let query = FormEncoding.query([
            "uid": uid, "filename": node.displayName, "disposition": "inline", "hash": "", "limit": "0",
            "content_type": "image/jpeg",
            "owner_uid": uid, "tknv": "v3",
        ])
        let path = [identifier(of: node), "inf", FormEncoding.encoded(previewSignature(node))].joined(separator: "/")
        return "\(self.origin(origin))/yandex_downloader/preview/\(path)?\(query)"
    }

    func holdsPreview(_ path: [String], for node: DiskNode) -> Bool { path == ["inf", previewSignature(node)] }

    // MARK: identities

    /// 64 hexadecimal digits that begin with the node's number.
    private func identifier(of node: DiskNode) -> String {
        let number = String(node.id, radix: 16)
        return String(repeating: "0", count: 16 - number.count) + number
            + Hexadecimal.text(mac("file \(node.id)").prefix(24))
    }

    static func node(of identifier: String) -> Int? {
        identifier.utf8.count == 64 ? Int(identifier.prefix(16), radix: 16) : nil
    }

    /// `resource_id` without the user's number.
    func resourceID(of node: DiskNode) -> String { Hexadecimal.text(mac("resource \(node.id)")) }

    /// A new key and address of a published resource.
    func publication(of node: DiskNode, revision: Int) -> DiskNode.Publication {
        let secret = mac("publication \(node.id) \(revision)")
        let address = secret.map { Self.letters[Int($0) % Self.letters.count] }.prefix(14)
        return DiskNode.Publication(
            key: Data(secret + mac("publication's second half \(node.id) \(revision)")).base64EncodedString(),
            url: "https://yadi.sk/\(node.isDirectory ? "d" : "i")/\(String(decoding: address, as: UTF8.self))",
            revision: revision
        )
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
