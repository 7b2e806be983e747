import Foundation
import Media
import Settings

/// The settings `media.*`: work on pictures and documents.
struct MediaConfiguration: Sendable {
    /// The programs that were found.
    var tools: MediaTools
    /// The limits of the work.
    var limits: MediaLimits

    init(_ settings: SettingValues, environment: [String: String]) throws(SettingError) {
        tools = MediaTools.find(
            searchPath: environment["PATH"] ?? "",
            pdfWorker: try settings.text("media.pdf_worker"),
            executable: Self.executable()
        )
        limits = MediaLimits()
        limits.children = try settings.integer("media.children")
        limits.waiting = try settings.integer("media.waiting")
        limits.pictureBytes = try settings.mebibytes("media.picture_mb")
        limits.picturePixels = try settings.integer("media.picture_megapixels") * 1_000_000
        limits.pageWidth = try settings.integer("media.page_width")
        limits.pdfBytes = try settings.mebibytes("media.pdf_mb")
        limits.pdfPages = try settings.integer("media.pdf_pages")
        limits.textBytes = try settings.integer("media.text_kb") << 10
        limits.textPages = try settings.integer("media.text_pages")
        limits.officeBytes = try settings.mebibytes("media.office_mb")
        for tool in Setting.mediaTools {
            limits[keyPath: tool.limits].memory = try settings.mebibytes("media.\(tool.name)_memory_mb")
            limits[keyPath: tool.limits].processor = try settings.seconds("media.\(tool.name)_cpu_s")
            limits[keyPath: tool.limits].wall = try settings.seconds("media.\(tool.name)_timeout_s")
            limits[keyPath: tool.limits].fileBytes = try settings.mebibytes("media.\(tool.name)_file_mb")
        }
    }

    /// Returns the path of the running executable, also if it was started by its bare name.
    private static func executable() -> String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }
}
