package import Foundation

/// A picture from a client or an upstream.
package enum PictureSource: Sendable {
    /// A file; its name is ignored.
    case file(URL)
    /// Bytes in memory.
    case bytes(Data)

    /// Reads the header, and checks bytes and pixels against their limits before any decoder sees them.
    ///
    /// - Throws: ``MediaError``: `unsupported`, `damaged`, `tooLarge`; Foundation's error if a file cannot be read.
    func header(_ limits: MediaLimits) throws -> PictureHeader {
        let headers: [PictureHeader] = try read(limits) { [try PictureHeader(of: $0)] }
        return headers[0]
    }

    /// Reads the headers of all pages, and checks them as ``header(_:)`` does.
    ///
    /// - Throws: ``MediaError``: what ``header(_:)`` throws, and `tooManyPages`.
    func pages(_ limits: MediaLimits) throws -> [PictureHeader] {
        try read(limits) { try PictureHeader.pages(of: $0, maximum: limits.pdfPages) }
    }

    private func read(_ limits: MediaLimits, _ headers: (any ByteSource) throws -> [PictureHeader]) throws
        -> [PictureHeader]
    {
        let source = try open()
        guard source.count <= limits.pictureBytes else { throw MediaError.tooLarge(.bytes(limit: limits.pictureBytes)) }
        do {
            let headers = try headers(source)
            guard headers.allSatisfy({ $0.pixels <= limits.picturePixels }) else {
                throw MediaError.tooLarge(.pixels(limit: limits.picturePixels))
            }
            return headers
        } catch let error as PictureHeaderError {
            throw MediaError(error, limits)
        }
    }

    /// Opens it.
    ///
    /// - Throws: Foundation's error if a file cannot be read.
    func open() throws -> any ByteSource {
        switch self {
        case .file(let url): try FileBytes(url)
        case .bytes(let data): Array(data)
        }
    }

    /// Links or writes it in a job's directory, under a name of Larder's own. A GIF whose first frame does not cover
    /// the picture is written with a transparent second one instead of its others: libvips makes all pixels opaque
    /// unless a frame is transparent.
    ///
    /// - Returns: its absolute path.
    /// - Throws: Foundation's error.
    func place(in folder: JobDirectory, as name: String, _ header: PictureHeader) throws -> String {
        if let end = header.endOfPartialFrame {
            return try folder.write(Data(try open().bytes(0..<end) + Self.transparentFrame), as: name)
        }
        switch self {
        case .file(let url): return try folder.link(url, as: name)
        case .bytes(let data): return try folder.write(data, as: name)
        }
    }
}

extension PictureSource {
    /// A frame of a transparent pixel, and the end of the file (GIF89a sections 20, 22, 23 and 27).
    private static let transparentFrame: [UInt8] =
        [0x21, 0xF9, 4, 1, 0, 0, 0, 0] + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0] + [0x3B]
}

extension MediaError {
    /// Translates an error in the header of a picture.
    init(_ error: PictureHeaderError, _ limits: MediaLimits) {
        self =
            switch error {
            case .unsupported(let kind): .unsupported(kind)
            case .truncated: .damaged("the picture ends too early")
            case .malformed(let reason): .damaged(reason)
            case .tooManyPages: .tooManyPages(limit: limits.pdfPages)
            }
    }
}
