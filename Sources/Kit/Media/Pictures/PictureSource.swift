public import Foundation

/// A picture from a client or an upstream.
public enum PictureSource: Sendable {
    /// A file; its name is ignored.
    case file(URL)
    /// Bytes in memory.
    case bytes(Data)

    /// Reads the header, and checks bytes and pixels against their limits before any decoder sees them.
    ///
    /// - Throws: ``MediaError``: `unsupported`, `damaged`, `tooLarge`; Foundation's error if a file cannot be read.
    func header(_ limits: MediaLimits) throws -> PictureHeader {
        switch self {
        case .file(let url): try Self.header(try FileBytes(url), limits)
        case .bytes(let data): try Self.header(Array(data), limits)
        }
    }

    private static func header(_ source: some ByteSource, _ limits: MediaLimits) throws -> PictureHeader {
        guard source.count <= limits.pictureBytes else { throw MediaError.tooLarge(.bytes(limit: limits.pictureBytes)) }
        let header: PictureHeader
        do {
            header = try PictureHeader(of: source)
        } catch let error as PictureHeaderError {
            switch error {
            case .unsupported(let kind): throw MediaError.unsupported(kind)
            case .truncated: throw MediaError.damaged("the picture ends too early")
            case .malformed(let reason): throw MediaError.damaged(reason)
            }
        }
        guard header.pixels <= limits.picturePixels else {
            throw MediaError.tooLarge(.pixels(limit: limits.picturePixels))
        }
        return header
    }

    /// Links or writes it in a job's directory, under a name of Larder's own.
    ///
    /// - Returns: its absolute path.
    /// - Throws: Foundation's error.
    func place(in folder: JobDirectory, as name: String) throws -> String {
        switch self {
        case .file(let url): return try folder.link(url, as: name)
        case .bytes(let data): return try folder.write(data, as: name)
        }
    }
}
