import Media
package import Screens
package import Settings

extension PDFApp {
    /// The problem codes of the app.
    package static let problems: [ProblemCode] = [.lastPage, .notSaved]
    /// The settings of the app.
    package static let settings = [
        Setting(
            "pdf.files",
            .integer(1...10_000),
            default: "200",
            "largest number of files in one upload of the PDF app"
        ),
        Setting("pdf.upload_mb", .integer(1...65_536), default: "500", "largest upload of the PDF app, in MiB"),
        Setting(
            "pdf.draft_lifetime_s",
            .integer(1...31_536_000),
            default: "86400",
            "lifetime of an unsaved document after its last change"
        ),
        Setting(
            "pdf.trash_days",
            .integer(0...3650),
            default: "30",
            "days for which deleted documents can be restored; 0 deletes them at once"
        ),
        Setting(
            "pdf.quota_mb",
            .integer(0...1_073_741_824),
            default: "10240",
            "what the documents of a profile may take, drafts and those in the trash included, in MiB"
        ),
        Setting(
            "pdf.keep_metadata",
            .choice(["true", "false"]),
            default: "false",
            "whether photos in documents keep their EXIF: time, camera, position of the photographer"
        ),
        Setting(
            "pdf.thumbnails_mb",
            .integer(0...65_536),
            default: "64",
            "space for pictures of pages, in MiB; the least recently used is evicted first"
        ),
    ]
}

extension PDFApp.Options {
    /// Reads the options of the app; what bounds all work on pictures and documents bounds it, too.
    init(_ settings: SettingValues, _ limits: MediaLimits) throws(SettingError) {
        self.init(
            maximumFiles: try settings.integer("pdf.files"),
            maximumFileBytes: max(limits.pictureBytes, limits.pdfBytes),
            maximumUploadBytes: try settings.mebibytes("pdf.upload_mb"),
            maximumPages: limits.pdfPages,
            maximumTextBytes: limits.textBytes,
            maximumWidth: min(2000, limits.pageWidth),
            thumbnailBytes: try settings.mebibytes("pdf.thumbnails_mb"),
            draftLifetime: try settings.seconds("pdf.draft_lifetime_s"),
            trashLifetime: .seconds(try settings.integer("pdf.trash_days") * 86_400),
            keepsMetadata: try settings.flag("pdf.keep_metadata"),
            quotaBytes: try settings.mebibytes("pdf.quota_mb")
        )
    }
}
