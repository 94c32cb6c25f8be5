// SPDX-License-Identifier: Apache-2.0

package expm

// Settle is settle, and SettleUnits settleUnits.
var Settle = settle

// SettleUnits is settleUnits.
const SettleUnits = settleUnits
