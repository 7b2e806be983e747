import MediaFormats

/// A picture format that all browsers show; detected by the first bytes of a body, because hosts of pictures send text
/// under names that end in `.jpg`.
package enum PictureType: String, Sendable {
    /// JFIF, Exif and other JPEG streams.
    case jpeg = "image/jpeg"
    /// PNG, APNG.
    case png = "image/png"
    /// GIF 87a and 89a.
    case gif = "image/gif"
    /// WebP in its RIFF container.
    case webp = "image/webp"

    /// Reads the type from the first bytes of a body.
    ///
    /// - Returns: nil for every other format.
    package init?(of bytes: some Sequence<UInt8>) {
        guard let format = PictureFormat(signature: bytes) else { return nil }
        self.init(rawValue: format.mediaType)
    }
}
