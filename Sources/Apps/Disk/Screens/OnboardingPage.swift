import Foundation
import Screens

/// The pages of the onboarding, in their order.
enum OnboardingPage: String, CaseIterable, Sendable {
    case documents, offline, sharing

    /// The line of the page.
    var text: Text {
        switch self {
        case .documents: .allDocuments
        case .offline: .withoutInternet
        case .sharing: .shareWithOthers
        }
    }

    /// The picture of the page, a PNG of 480 by 480 pixels.
    var picture: Data {
        switch self {
        case .documents: Data(PackageResources.onboarding_documents_png)
        case .offline: Data(PackageResources.onboarding_offline_png)
        case .sharing: Data(PackageResources.onboarding_sharing_png)
        }
    }
}
