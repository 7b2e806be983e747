public import Foundation

/// A picture that Larder has made.
public struct RenderedPicture: Sendable, Equatable {
    /// Its bytes.
    public let data: Data
    /// JPEG or PNG.
    public let format: PictureFormat
    /// Pixels of a line.
    public let width: Int
    /// Lines.
    public let height: Int

    /// Its media type.
    public var mediaType: String { format.mediaType }

    /// Creates a picture.
    public init(data: Data, format: PictureFormat, width: Int, height: Int) {
        self.data = data
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads a picture that a tool has written.
    ///
    /// - Throws: ``PictureHeaderError``; Foundation's error if the file cannot be read.
    init(file: String) throws {
        data = try Data(contentsOf: URL(filePath: file))
        let header = try PictureHeader(of: Array(data))
        (format, width, height) = (header.format, header.width, header.height)
    }
}
