/// What a picture is, told by its first bytes: hosts of pictures answer pages of text under names that end in `.jpg`.
public enum PictureType: String, Sendable {
    /// JFIF, Exif and other JPEG streams.
    case jpeg = "image/jpeg"
    /// PNG, APNG.
    case png = "image/png"
    /// GIF 87a and 89a.
    case gif = "image/gif"
    /// WebP in its RIFF container.
    case webp = "image/webp"

    /// Looks at the beginning of a body; nil where it is no picture that is known here.
    public init?(of bytes: some Sequence<UInt8>) {
        let head = Array(bytes.prefix(12))
        if head.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if head.starts(with: Array("GIF8".utf8)) {
            self = .gif
        } else if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).elementsEqual("WEBP".utf8) {
            self = .webp
        } else {
            return nil
        }
    }
}
