/// The types that the API will assign to a file that it does not have yet, by its extension.
enum FileTypes {
    private static let types: [String: (media: String, mime: String)] = [
        "jpg": ("image", "image/jpeg"), "jpeg": ("image", "image/jpeg"), "png": ("image", "image/png"),
        "gif": ("image", "image/gif"), "webp": ("image", "image/webp"), "bmp": ("image", "image/bmp"),
        "heic": ("image", "image/heic"), "tif": ("image", "image/tiff"), "tiff": ("image", "image/tiff"),
        "pdf": ("document", "application/pdf"), "txt": ("document", "text/plain"), "md": ("text", "text/markdown"),
        "doc": ("document", "application/msword"),
        "docx": ("document", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        "ppt": ("document", "application/vnd.ms-powerpoint"),
        "pptx": ("document", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
        "xls": ("spreadsheet", "application/vnd.ms-excel"),
        "xlsx": ("spreadsheet", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
        "csv": ("spreadsheet", "text/csv"), "zip": ("compressed", "application/zip"),
        "mp3": ("audio", "audio/mpeg"), "mp4": ("video", "video/mp4"), "html": ("web", "text/html"),
    ]

    /// Returns media type and MIME type of an extension in lower case; nil if they are not known.
    static func types(of fileExtension: String) -> (media: String?, mime: String?) {
        types[fileExtension].map { ($0.media, $0.mime) } ?? (nil, nil)
    }
}
