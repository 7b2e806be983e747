package import Foundation

/// A picture that Larder has made.
package struct RenderedPicture: Sendable, Equatable {
    /// Its bytes.
    package let data: Data
    /// JPEG or PNG.
    package let format: PictureFormat
    /// Pixels of a line.
    package let width: Int
    /// Lines.
    package let height: Int

    /// Its media type.
    package var mediaType: String { format.mediaType }

    /// Creates a picture.
    package init(data: Data, format: PictureFormat, width: Int, height: Int) {
        self.data = data
        self.format = format
        self.width = width
        self.height = height
    }

    /// Reads a picture that a tool has written.
    ///
    /// - Throws: ``PictureHeaderError``; ``MediaError/unavailable(_:)`` if its end is missing; Foundation's error if
    ///   the file cannot be read.
    init(file: String) throws {
        data = try Data(contentsOf: URL(filePath: file))
        let bytes = Array(data)
        let header = try PictureHeader(of: bytes)
        (format, width, height) = (header.format, header.width, header.height)
        // `pdftoppm` reports success although its last writes found no room.
        guard PictureFormat.isComplete(bytes) else {
            throw MediaError.unavailable("the end of a picture is missing after \(bytes.count) bytes: \(file)")
        }
    }
}
