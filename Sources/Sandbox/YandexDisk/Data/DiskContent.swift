import Foundation
import Synchronization

/// The bytes of one version of a file with their digests. Several files may share one.
final class DiskContent: Sendable, Codable {
    private enum Origin {
        case made(MadeFile)
        case received(ReceivedBody)
        case endless(EndlessBytes, md5: String, sha256: String)
    }

    private let origin: Origin
    private let hashed = Mutex<ReceivedBody?>(nil)
    /// The preview of a received file after the service has made one. Not part of a saved state.
    private let later: DiskPreview.Subject?

    init(_ file: MadeFile) { (origin, later) = (.made(file), nil) }

    init(_ body: ReceivedBody, preview: DiskPreview.Subject? = nil) { (origin, later) = (.received(body), preview) }

    init(endless: EndlessBytes, md5: String, sha256: String) {
        (origin, later) = (.endless(endless, md5: md5, sha256: sha256), nil)
    }

    /// 2 254 857 830 bytes, more than a 32-bit number can hold. The digests are constants, because hashing takes
    /// seconds.
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

    /// The subject of previews: the picture itself, or a sheet of lines for documents. Nil if there are no previews, as
    /// for files that clients have just uploaded.
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

    /// Its form in a saved state: the recipe, or the bytes.
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

/// Previews: which sizes there are, and the pictures.
enum DiskPreview {
    enum Subject: Sendable, Equatable {
        case landscape(Landscape, width: Int, height: Int)
        case sheet
    }

    /// The named sizes in the order in which responses list them, with their longer side in pixels; the three smallest
    /// are squares.
    static let names: [(name: String, side: Int)] = [
        ("XXXS", 50), ("XXS", 75), ("XS", 100), ("S", 150), ("M", 300), ("L", 500), ("XL", 800), ("XXL", 1_024),
        ("XXXL", 1_280),
    ]

    /// A value of `preview_size`: a name, `128`, `128x`, `x256` or `128x256`.
    struct Size: Equatable {
        var width: Int?
        var height: Int?
        /// A name or a single number bounds the longer side.
        var longerSide: Int?

        init?(_ text: String) {
            if let named = DiskPreview.names.first(where: { $0.name == text }) {
                longerSide = named.side
                return
            }
            let parts = text.split(separator: "x", omittingEmptySubsequences: false)
            let numbers = parts.map { Int($0) }
            guard (1...2).contains(parts.count),
                zip(parts, numbers).allSatisfy({ $0.isEmpty || (1...4_096).contains($1 ?? 0) })
            else { return nil }
            if parts.count == 1 {
                guard let side = numbers[0] else { return nil }
                longerSide = side
            } else {
                guard numbers.contains(where: { $0 != nil }) else { return nil }
                width = numbers[0]
                height = numbers[1]
            }
        }

        /// Pixels of the picture of something that is `width` × `height`; with `crop` exactly the requested size.
        func pixels(of width: Int, _ height: Int, crop: Bool) -> (width: Int, height: Int) {
            if let wantedWidth = self.width, let wantedHeight = self.height, crop { return (wantedWidth, wantedHeight) }
            let bounds = longerSide.map { ($0, $0) } ?? (self.width ?? Int.max, self.height ?? Int.max)
            let scale = min(1, min(Double(bounds.0) / Double(width), Double(bounds.1) / Double(height)))
            return (max(1, Int(Double(width) * scale)), max(1, Int(Double(height) * scale)))
        }
    }

    static func jpeg(of subject: Subject, size: Size, crop: Bool) -> [UInt8] {
        switch subject {
        case .landscape(let landscape, let width, let height):
            let pixels = size.pixels(of: width, height, crop: crop)
            return landscape.jpeg(width: pixels.width, height: pixels.height)
        case .sheet:
            let pixels = size.pixels(of: 595, 842, crop: crop)
            let columns = (pixels.width + 7) / 8
            return JPEG.encode(width: pixels.width, height: pixels.height) { column, row in
                let isLine = row % 2 == 1 && column > 0 && column < columns - 1 - row % 3
                return isLine ? PNG.Color(red: 190, green: 190, blue: 196) : PNG.Color(red: 252, green: 252, blue: 250)
            }
        }
    }
}
