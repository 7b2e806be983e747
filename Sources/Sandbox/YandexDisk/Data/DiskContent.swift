import Foundation
import Synchronization

/// The bytes of one version of a file and what is known of them. Several files may share one.
final class DiskContent: Sendable, Codable {
    private enum Origin {
        case made(MadeFile)
        case received(ReceivedBody)
        case endless(EndlessBytes, md5: String, sha256: String)
    }

    private let origin: Origin
    private let hashed = Mutex<ReceivedBody?>(nil)
    /// The preview of a received file once the service has made one. Not part of a saved state.
    private let later: DiskPreview.Subject?

    init(_ file: MadeFile) { (origin, later) = (.made(file), nil) }

    init(_ body: ReceivedBody, preview: DiskPreview.Subject? = nil) { (origin, later) = (.received(body), preview) }

    init(endless: EndlessBytes, md5: String, sha256: String) {
        (origin, later) = (.endless(endless, md5: md5, sha256: sha256), nil)
    }

    /// 2 254 857 830 bytes, which is more than a 32-bit number holds. Hashing them takes seconds, so the digests stand
    /// here.
    static let endless = DiskContent(
        endless: EndlessBytes(count: 2_254_857_830),
        md5: "3ed54d0ad702efae837bb0fc6bc57ddd",
        sha256: "eede25889c3fea11601072bb635204901621728dd4bafd407a3965f67ae80651"
    )

    private var body: ReceivedBody? {
        switch origin {
        case .received(let body): return body
        case .endless: return nil
        case .made(let file):
            return hashed.withLock { hashed in
                if let hashed { return hashed }
                let body = ReceivedBody(file.bytes)
                hashed = body
                return body
            }
        }
    }

    var source: any ByteSource {
        if case .endless(let bytes, _, _) = origin { return bytes }
        return body?.source ?? BytesInMemory(content: [], identity: "")
    }

    var size: Int { source.count }

    /// Hexadecimal.
    var md5: String {
        if case .endless(_, let md5, _) = origin { return md5 }
        return body?.md5 ?? ""
    }

    /// Hexadecimal.
    var sha256: String {
        if case .endless(_, _, let sha256) = origin { return sha256 }
        return body?.sha256 ?? ""
    }

    /// The subject of previews: the picture itself, or a sheet of lines for documents. Nil if there are none, as for
    /// files that clients have just uploaded.
    var preview: DiskPreview.Subject? {
        guard case .made(let file) = origin else { return later }
        switch file {
        case .photo(let landscape, let width, let height), .drawing(let landscape, let width, let height):
            return .landscape(landscape, width: width, height: height)
        case .pdf, .docx, .xlsx, .text: return .sheet
        case .table, .archive, .tone: return nil
        }
    }

    // MARK: Coding

    /// What a saved state has of it: how it is made, or its bytes.
    private enum Stored: Codable {
        case made(MadeFile)
        case received(Data)
        case endless
    }

    required init(from decoder: any Decoder) throws {
        later = nil
        origin =
            switch try Stored(from: decoder) {
            case .made(let file): .made(file)
            case .received(let bytes): .received(ReceivedBody(Array(bytes)))
            case .endless: Self.endless.origin
            }
    }

    func encode(to encoder: any Encoder) throws {
        switch origin {
        case .made(let file): try Stored.made(file).encode(to: encoder)
        case .received(let body): try Stored.received(Data(body.source.bytes(in: 0..<body.count))).encode(to: encoder)
        case .endless: try Stored.endless.encode(to: encoder)
        }
    }
}
